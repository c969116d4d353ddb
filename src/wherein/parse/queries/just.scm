(recipe (recipe_header name: (identifier) @name)) @d.target
(assignment left: (identifier) @name) @d.variable
(dependency name: (identifier) @r.read)
(comment) @comment
