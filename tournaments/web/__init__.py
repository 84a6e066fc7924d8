"""Pages in the browser (`plurispiel web`): watched runs, hands with advice, tables and the spot explorer."""
