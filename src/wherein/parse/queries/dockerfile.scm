(from_instruction as: (image_alias) @name) @d.target
(arg_instruction name: (unquoted_string) @name) @d.variable
(env_instruction (env_pair name: (unquoted_string) @name)) @d.variable
(from_instruction (image_spec) @r.inherit)
(comment) @comment
