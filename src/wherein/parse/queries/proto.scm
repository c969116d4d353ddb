(package (full_ident) @name) @d.package
(message (message_name) @name) @d.message
(enum (enum_name) @name) @d.enum
(enum_field . (identifier) @name) @d.constant
(service (service_name) @name) @d.service
(rpc (rpc_name) @name) @d.method
(rpc (message_or_enum_type) @r.type)
(type (message_or_enum_type) @r.type)
(import) @import
(comment) @comment
