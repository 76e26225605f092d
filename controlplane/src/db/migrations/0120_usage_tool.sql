-- The tool of an MCP server that a call names; '': none. Rollups keep it in the column of the model, behind `tool:`.
alter table usage_records add column tool text not null default '';
