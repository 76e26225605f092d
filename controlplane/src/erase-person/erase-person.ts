/**
 * Erases the personal data of one person (docs/operations.md#erasing-a-person): the account with all that hangs on it,
 * invitations, directory entries, and the address in every trail. Entries of trails stay, with the account's id at most:
 * they are evidence of what happened to an organization's credentials.
 */
import type { Sql, Tx } from '../db/postgres-client.js';
import { endPersonalAgents } from '../personal-agents/revocation/end-personal-agents.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';

/** Replaces the address of the person. */
const ERASED = 'erased';
/** What a JSON text may have around an address. */
const JSON_QUOTE = '"';

interface Erasure {
  /** Null: no account has this address. */
  readonly userId: string | null;
  /** Rows that were deleted or changed, by what they hold. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The person is the only owner of organizations, which no member could manage afterwards. */
export class OnlyOwner extends Error {
  constructor(readonly organizations: readonly string[]) {
    super(
      `the only owner of ${organizations.join(', ')}: make another member owner, or delete the organization, then repeat`,
    );
    this.name = 'OnlyOwner';
  }
}

/** The person is the owner who may log in without the required single sign-on. */
export class BreakGlassOwner extends Error {
  constructor(readonly organizations: readonly string[]) {
    super(
      `the break-glass owner of single sign-on of ${organizations.join(', ')}: name another break-glass owner there, then repeat`,
    );
    this.name = 'BreakGlassOwner';
  }
}

class DryRun extends Error {}

/** Throws {@link OnlyOwner} or {@link BreakGlassOwner} and changes nothing. `erasedBy`: user and host of the command, for the trails. */
export async function erasePerson(sql: Sql, email: string, erasedBy: string, isDryRun: boolean): Promise<Erasure> {
  let erasure: Erasure | null = null;
  try {
    await sql.begin(async (tx) => {
      erasure = await erase(tx, email.trim().toLowerCase(), erasedBy);
      if (isDryRun) throw new DryRun();
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
  }
  return erasure!;
}

async function erase(tx: Tx, email: string, erasedBy: string): Promise<Erasure> {
  // Membership changes of the person wait, so that no organization loses its last owner meanwhile.
  const [user] = await tx<{ id: string }[]>`select id from users where email = ${email} for update`;
  const userId = user?.id ?? null;
  if (userId !== null) {
    await assertNotOnlyOwner(tx, userId);
    await assertNotBreakGlassOwner(tx, userId);
    await tx`
      insert into audit_entries (id, org_id, actor_user_id, actor_email, action, target_type, target_id, ip, changes)
      select gen_random_uuid(), org_id, null, ${erasedBy}, 'user.erase', 'user', ${userId}, '', '{}'::jsonb
        from memberships where user_id = ${userId}`;
  }
  const personal = userId === null ? [] : await endOwnAgents(tx, userId);
  const counts: Record<string, number> = {};
  const count = async (what: string, rows: PromiseLike<{ readonly count: number }>): Promise<void> => {
    counts[what] = (await rows).count;
  };
  await count('invitations', tx`delete from invitations where email = ${email}`);
  await count(
    'directory entries',
    tx`delete from scim_users where user_id = ${userId} or lower(coalesce(email, user_name)) = ${email}`,
  );
  await count('waiting mails', tx`delete from event_mail_queue where user_id = ${userId}`);
  await count(
    'audit entries of the person',
    tx`update audit_entries set actor_email = ${ERASED}, ip = ''
        where actor_email = ${email} or actor_user_id = ${userId}`,
  );
  // Audit entries on their way to webhooks: the trail keeps what stays of them. Events first: a fan-out that runs now has
  // then committed its deliveries.
  const isAbout = (text: string) =>
    tx`strpos(lower(${tx(text)}::text), ${email}) > 0 or strpos(${tx(text)}::text, ${userId}) > 0`;
  await count('events of audit entries', tx`delete from events where event = 'audit.entry' and (${isAbout('data')})`);
  await count(
    'deliveries of audit entries',
    tx`delete from webhook_deliveries where event = 'audit.entry' and (${isAbout('payload')})`,
  );
  // An address in changes or as a target: of invitations, members and failed logins.
  const quoted = JSON.stringify(email).slice(1, -1);
  await count(
    'audit entries about the person',
    tx`update audit_entries
          set changes = replace(changes::text, ${JSON_QUOTE + quoted + JSON_QUOTE}, ${JSON_QUOTE + ERASED + JSON_QUOTE})::jsonb,
              target_id = case when target_id = ${email} then ${ERASED} else target_id end
        where strpos(changes::text, ${JSON_QUOTE + quoted + JSON_QUOTE}) > 0 or target_id = ${email}`,
  );
  await count(
    'deletions of organizations',
    tx`update organization_deletions
          set requested_by_email = case when requested_by_email = ${email} then ${ERASED} else requested_by_email end,
              ip = case when requested_by_email = ${email} then '' else ip end,
              restored_by_email = case when restored_by_email = ${email} then ${ERASED} else restored_by_email end
        where requested_by_email = ${email} or restored_by_email = ${email}`,
  );
  await count(
    'adjustments of bills',
    tx`update billing_adjustments set created_by = ${ERASED} where created_by = ${email}`,
  );
  // Sessions, memberships, second factors, single sign-on, mailed tokens and management tokens go with the account.
  await count('accounts', tx`delete from users where id = ${userId}`);
  await publishInvalidations(tx, personal);
  return { userId, counts };
}

/**
 * Ends the personal agents of the person in all organizations and removes the person's name from them, also where their
 * creation is recorded. Their usage stays, under their ids.
 */
async function endOwnAgents(tx: Tx, userId: string): Promise<readonly Invalidation[]> {
  const organizations = await tx<{ orgId: string }[]>`
    select distinct org_id as "orgId" from agents where owner_user_id = ${userId}`;
  const ended: Invalidation[] = [];
  for (const { orgId } of organizations) ended.push(...(await endPersonalAgents(tx, { orgId, userId })));
  const ids = ended.map(({ id }) => id);
  await tx`update agents set name = ${ERASED}, slug = ${`${ERASED}-`} || id where id = any(${ids}::uuid[])`;
  await tx`
    update audit_entries set changes = changes || jsonb_build_object('name', jsonb_build_array(null, ${ERASED}::text))
     where target_id = any(${ids}) and action = 'agent.create'`;
  await tx`
    update events set data = (data::jsonb || jsonb_build_object('agentName', ${ERASED}::text))::json
     where data ->> 'agentId' = any(${ids}) and data ->> 'agentName' is not null`;
  return ended;
}

/** Locks the owners' rows: another owner cannot leave before the commit. */
async function assertNotOnlyOwner(tx: Tx, userId: string): Promise<void> {
  const owners = await tx<{ orgId: string; name: string; userId: string }[]>`
    select o.id as "orgId", o.name, m.user_id as "userId"
      from memberships m join organizations o on o.id = m.org_id
     where m.role = 'owner' and o.purge_at is null
       and m.org_id in (select org_id from memberships where user_id = ${userId} and role = 'owner')
       for update of m`;
  const own = owners.filter((one) => one.userId === userId);
  const alone = own.filter(({ orgId }) => !owners.some((one) => one.orgId === orgId && one.userId !== userId));
  if (alone.length > 0) throw new OnlyOwner(alone.map(({ name, orgId }) => `${name} (${orgId})`));
}

/** Also of organizations that wait for their deletion: the connection's reference would reject the deletion. */
async function assertNotBreakGlassOwner(tx: Tx, userId: string): Promise<void> {
  const organizations = await tx<{ orgId: string; name: string }[]>`
    select o.id as "orgId", o.name from sso_connections c join organizations o on o.id = c.org_id
     where c.break_glass_user_id = ${userId} order by o.name, o.id`;
  if (organizations.length > 0) throw new BreakGlassOwner(organizations.map(({ name, orgId }) => `${name} (${orgId})`));
}
