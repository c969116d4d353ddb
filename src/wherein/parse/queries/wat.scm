(module_field_func identifier: (identifier) @name) @d.function
