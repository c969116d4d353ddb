(contract_declaration name: (identifier) @name) @d.contract
(interface_declaration name: (identifier) @name) @d.interface
(library_declaration name: (identifier) @name) @d.contract
(function_definition name: (identifier) @name) @d.declaration
(function_definition name: (identifier) @name body: (_)) @d.function
(modifier_definition name: (identifier) @name) @d.modifier
(event_definition name: (identifier) @name) @d.event
(error_declaration name: (identifier) @name) @d.type
(struct_declaration name: (identifier) @name) @d.struct
(enum_declaration name: (identifier) @name) @d.enum
(state_variable_declaration name: (identifier) @name) @d.field
(constant_variable_declaration name: (identifier) @name) @d.constant
(constructor_definition "constructor" @name) @d.constructor
(inheritance_specifier ancestor: (user_defined_type (identifier) @r.inherit))
(call_expression function: (expression [(identifier) @r.call (member_expression property: (identifier) @r.call)]))
(emit_statement name: (expression (identifier) @r.call))
(modifier_invocation (identifier) @r.call)
(user_defined_type (identifier) @r.type)
(new_expression name: (type_name (user_defined_type (identifier) @r.call)))
(call_argument (expression (identifier) @r.read))
(import_directive) @import
(comment) @comment
