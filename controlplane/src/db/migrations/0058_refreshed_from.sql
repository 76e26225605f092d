-- The network that refreshed a session last: within the overlap, only it gets the newest token for the one before.
alter table sessions add column refreshed_from text; -- null: never, or before this column
