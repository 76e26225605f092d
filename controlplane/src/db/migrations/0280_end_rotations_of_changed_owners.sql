-- A credential is never sent to another host than the one for which it was stored: a move of the provider ends the
-- rotation. Any other change of the credential ends a test. Triggers, because control planes of the previous release do
-- both and know no rotations.
create function end_rotation_of_changed_owner() returns trigger language plpgsql as $$
begin
  with ended as (
    update credential_rotations
       set state = 'cancelled', key_id = null, nonce = null, ciphertext = null, next_test_at = null, ended_at = now(),
           problem = case when new.status = 'needs_credentials' then 'The provider has moved to another address or to other fields.'
                          else 'The credential was replaced during the test.' end
     where (account_id = new.id or credential_id = new.id)
       and (state = 'testing'
            or (state = 'retiring' and new.status = 'needs_credentials' and new.refused_at is null))
    returning id)
  delete from credential_rotation_uses where rotation_id in (select id from ended);
  return null;
end $$;
create trigger accounts_end_rotations after update of status, refused_at, rotated_at on provider_accounts for each row
  when (new.rotated_at is distinct from old.rotated_at
        or (new.status = 'needs_credentials' and new.refused_at is null
            and (old.status <> 'needs_credentials' or old.refused_at is not null)))
  execute function end_rotation_of_changed_owner();
create trigger credentials_end_rotations after update of status, refused_at, rotated_at on credentials for each row
  when (new.rotated_at is distinct from old.rotated_at
        or (new.status = 'needs_credentials' and new.refused_at is null
            and (old.status <> 'needs_credentials' or old.refused_at is not null)))
  execute function end_rotation_of_changed_owner();
