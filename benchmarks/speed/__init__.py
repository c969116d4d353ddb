"""Speed, memory and disk: cold and warm, first and again."""
