(bind function: (id) @name) @d.function
(bind . (id) @name) @d.variable
(field function: (fieldname) @name) @d.method
(comment) @comment
