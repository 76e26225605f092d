/** An audit entry as a sentence: what was done to which object, with a link to the object. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { providerLabel } from '../../messages/provider-labels.js';
import type { AuditEntry } from './fetch-audit-entries.js';

/** Past tenses that the rule below does not give. */
const VERBS: Readonly<Record<string, string>> = {
  set_status: 'set the status of',
  set: 'set',
  hold: 'held open',
  invite: 'invited',
  resend: 'resent the invitation of',
  join: 'joined as',
  leave: 'left as',
  reject: 'rejected',
  fail: 'failed at',
  end: 'ended',
  end_others: 'ended the other sessions of',
  end_reused: 'ended a reused session of',
  deny: 'denied',
  verify: 'verified',
  login: 'logged in with',
  suspend_items: 'suspended items of',
  email_verified: 'verified the e-mail address of',
  password_change: 'changed the password of',
  password_reset: 'reset the password of',
  renew_recovery_codes: 'renewed the recovery codes of',
  keep: 'kept',
};
const THINGS: Readonly<Record<string, string>> = {
  api_key: 'gateway token',
  account: 'provider account',
  sso: 'single sign-on',
};

const pastTense = (verb: string): string =>
  VERBS[verb] ?? `${verb.replaceAll('_', ' ')}${verb.endsWith('e') ? 'd' : 'ed'}`;

/** `created gateway token`. */
function describeAction(action: string): string {
  const [thing = '', verb = ''] = action.split('.', 2);
  return `${pastTense(verb)} ${THINGS[thing] ?? thing.replaceAll('_', ' ')}`;
}

/** The present name, or the one that the entry itself records. */
export function nameOfTarget({ target, changes }: AuditEntry): string | null {
  const [before, after] = changes.name ?? changes.email ?? changes.url ?? [];
  const recorded = after ?? before;
  if (target.name === null) return typeof recorded === 'string' ? recorded : null;
  // The name of an account ends with the slug of its provider.
  return target.type === 'account' ? target.name.replace(/\S+$/, (slug) => providerLabel(slug)) : target.name;
}

/** Null: the object has no page. */
function pathOfTarget({ type, id, name }: AuditEntry['target']): string | null {
  // A revoked key keeps its page.
  if (type === 'api_key') return `/keys/${id}`;
  if (name === null) return null;
  if (type === 'agent') return `/agents/${id}`;
  if (type === 'webhook') return `/webhooks/${id}`;
  if (type === 'project') return `/projects/${id}`;
  if (type === 'account') return `/providers/accounts/${id}`;
  if (type === 'run') return `/runs/${id}`;
  if (type === 'credential') return `/providers?${new URLSearchParams({ tab: 'shared', credential: id })}`;
  return null;
}

const ID_END = 8;

export function EntrySentence({ entry }: { readonly entry: AuditEntry }) {
  const { action, target } = entry;
  const name = nameOfTarget(entry) ?? target.id.slice(-ID_END);
  const path = pathOfTarget(target);
  return (
    <span title={`${action} ${target.id}`} className="acg-break-anywhere">
      {describeAction(action)}{' '}
      {path === null ? (
        <b>{name}</b>
      ) : (
        <Anchor component={Link} href={path} inherit underline="always">
          {name}
        </Anchor>
      )}
    </span>
  );
}
