-- A key that is replaced lives on for an overlap (docs/contract.md#gateway-tokens), and the time of a key can be moved.
alter table api_keys
  add column replaced_by uuid,                          -- the key that takes its place
  add column expiry_moved boolean not null default false; -- calls that began before do not know its end
create index api_keys_moved on api_keys (expires_at) where expiry_moved;
