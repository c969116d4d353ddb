(mod_item name: (identifier) @name) @d.module
(function_item name: (identifier) @name) @d.function
(function_signature_item name: (identifier) @name) @d.declaration
(struct_item name: (type_identifier) @name) @d.struct
(union_item name: (type_identifier) @name) @d.union
(enum_item name: (type_identifier) @name) @d.enum
(enum_variant name: (identifier) @name) @d.constant
(trait_item name: (type_identifier) @name) @d.trait
(type_item name: (type_identifier) @name) @d.type
(associated_type name: (type_identifier) @name) @d.type
(macro_definition name: (identifier) @name) @d.macro
(const_item name: (identifier) @name) @d.constant
(static_item name: (identifier) @name) @d.variable
(impl_item type: [
  (type_identifier) @name
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (type_identifier) @name)])
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: (type_identifier) @name)]) @scope
(impl_item trait: [
  (type_identifier) @r.inherit
  (generic_type type: (type_identifier) @r.inherit)
  (scoped_type_identifier name: (type_identifier) @r.inherit)])
(trait_bounds (type_identifier) @r.inherit)
(call_expression function: [
  (identifier) @r.call
  (field_expression field: (field_identifier) @r.call)
  (scoped_identifier name: (identifier) @r.call)
  (generic_function function: [
    (identifier) @r.call
    (field_expression field: (field_identifier) @r.call)
    (scoped_identifier name: (identifier) @r.call)])])
(macro_invocation macro: [(identifier) @r.call (scoped_identifier name: (identifier) @r.call)])
(struct_expression name: [(type_identifier) @r.call (scoped_type_identifier name: (type_identifier) @r.call)])
(type_identifier) @r.type
(scoped_identifier path: (identifier) @r.type)
(arguments (identifier) @r.read)
[(use_declaration) (extern_crate_declaration)] @import
[(line_comment) (block_comment)] @comment
(attribute_item) @leading
