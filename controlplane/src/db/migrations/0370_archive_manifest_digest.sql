-- SHA-256 of the manifest that was verified, so that an edit of an archived day shows even where the manifest was edited
-- with it. A control plane of the previous release archives a day again without it: it counts only where
-- `manifest_verified_at` equals `verified_at`.
alter table archive_days
  add column manifest_sha256 text,               -- hexadecimal; null: archived by an earlier release
  add column manifest_verified_at timestamptz;
