-- The running sub-runs of a run: an end must not read all of a tree whose top has thousands.
create index runs_open_by_parent on runs ((ancestors[1])) where ended_at is null and ancestors <> '{}';
drop index runs_open_by_root;
