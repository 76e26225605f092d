/**
 * Device login for programs without a browser (like RFC 8628). The program shows a short code. Its user logs in with a
 * password, types the code on `/device`, sees the program's name and address, and approves one organization and a role.
 *
 * The role is never higher than the user's own. The code is never part of a URL, so a link cannot carry an attacker's
 * code. The device code works once.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { toClientNetworkKey } from '@acg/base/client-network-key';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../../domain/errors.js';
import { type Actor, isRoleAtLeast, type Role } from '../../http/route-access.js';
import { createDeviceApprovalMail } from '../../mail/mail-texts.js';
import type { Mailer } from '../../mail/mailer.js';
import type { Throttle } from '../../throttling/throttle.js';
import { type ClientInfo, lockActiveSession, type SessionService } from '../sessions/session-service.js';
import type { LoginReply, OrganizationWithRole } from '../users/auth-schema.js';
import * as store from '../users/user-and-membership-store.js';
import * as devices from './device-store.js';

/** No vowels, so that no words appear; no digits or letters that are easily confused. */
const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_TRIES = 5;
const STARTS_PER_NETWORK_MAX = 60;
/** Short codes that one user may try per window. */
const CODES_PER_USER_MAX = 20;
const THROTTLE_WINDOW_S = 600;

interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly expiresIn: number;
  readonly interval: number;
}

export class DeviceLogin {
  constructor(
    readonly sql: Sql,
    readonly sessions: SessionService,
    readonly throttle: Throttle,
    readonly mailer: Mailer,
    readonly publicUrl: string,
  ) {}

  async startDeviceLogin(client: string, hostname: string, ip: string): Promise<DeviceAuthorization> {
    await this.throttle.consume(
      `device:${toClientNetworkKey(ip)}`,
      STARTS_PER_NETWORK_MAX,
      THROTTLE_WINDOW_S,
      'device logins from this address',
    );
    const deviceCode = randomBytes(32).toString('base64url');
    for (let n = 0; n < USER_CODE_TRIES; n++) {
      const userCode = generateUserCode();
      const hashes = { deviceCodeHash: sha256(deviceCode), userCodeHash: hashUserCode(userCode) };
      if (await devices.insertDeviceLogin(this.sql, { id: uuidv7(Date.now()), ...hashes, client, hostname, ip })) {
        const verificationUrl = `${this.publicUrl}/device`;
        const times = { expiresIn: devices.DEVICE_CODE_LIFETIME_S, interval: devices.POLL_INTERVAL_S };
        return { deviceCode, userCode, verificationUrl, ...times };
      }
    }
    throw new Conflict('no free user code was found: try again');
  }

  async findPendingDevice(
    actor: Actor,
    userCode: string,
  ): Promise<{ device: devices.PendingDeviceLogin; orgs: readonly OrganizationWithRole[] }> {
    return this.#withPendingDevice(actor, userCode, async (tx, device) => ({
      device,
      orgs: (await store.listUserOrganizations(tx, actor.userId)).filter(
        ({ id }) => actor.session?.sso !== true || id === actor.orgId,
      ),
    }));
  }

  async approve(actor: Actor, userCode: string, orgId: string, role: Role): Promise<void> {
    const ip = await this.#withPendingDevice(actor, userCode, async (tx, device) => {
      const user = await store.loadUser(tx, actor.userId);
      const ownRole = await store.lockMembership(tx, orgId, actor.userId);
      if (user === null || ownRole === null) throw new NotFound('organization');
      if (!isRoleAtLeast(ownRole, role))
        throw new Forbidden(`your role in that organization is ${ownRole}: you cannot approve a device as ${role}`);
      const sso = actor.session?.sso === true;
      if (sso && orgId !== actor.orgId)
        throw new Forbidden('this session was opened by single sign-on: approve the device for its organization');
      const approval = { userId: user.id, version: user.sessionVersion, orgId, role, sso };
      await devices.approveDeviceLogin(tx, device.id, approval);
      const changes = { client: [null, device.client], role: [null, role], ip: [null, device.ip] } as const;
      const auditActor = { ...actor, orgId, role: ownRole };
      await recordAudit(tx, auditActor, 'device.approve', { type: 'user', id: user.id }, changes);
      return device.ip;
    });
    this.mailer.enqueue(createDeviceApprovalMail(actor.email, { ip, role }));
  }

  async deny(actor: Actor, userCode: string): Promise<void> {
    await this.#withPendingDevice(actor, userCode, async (tx, device) => {
      await devices.denyDeviceLogin(tx, device.id);
      await recordAudit(
        tx,
        actor,
        'device.deny',
        { type: 'user', id: actor.userId },
        { client: [null, device.client] },
      );
    });
  }

  /**
   * Returns the program's session, once. Until then throws an {@link InvalidInput} whose text is an error code of RFC
   * 8628 §3.5 (`authorization_pending`, `slow_down`, `access_denied`, `expired_token`).
   */
  async pollForSession(deviceCode: string, client: ClientInfo): Promise<LoginReply> {
    const polled = await devices.recordDeviceLoginPoll(this.sql, sha256(deviceCode));
    if (polled === null) throw new InvalidInput('expired_token');
    if (polled.polledTooSoon) throw new InvalidInput('slow_down');
    if (polled.status === 'pending') throw new InvalidInput('authorization_pending');
    if (polled.status === 'denied') throw new InvalidInput('access_denied');
    return this.sql.begin(async (tx) => {
      const approval = await devices.consumeDeviceApproval(tx, polled.id);
      if (approval === null) throw new InvalidInput('expired_token');
      const { userId, version, orgId, role, sso } = approval;
      const user = await store.loadUser(tx, userId);
      const org = (await store.listUserOrganizations(tx, userId)).find(({ id }) => id === orgId);
      if (user === null || org === undefined || user.sessionVersion !== version)
        throw new InvalidInput('access_denied');
      const options = { kind: 'cli', roleMax: role, authenticated: false, sso } as const;
      const token = await this.sessions.openBearerSession(tx, user, orgId, client, options);
      const auditActor = { userId, email: user.email, orgId, ip: client.ip };
      await recordAudit(tx, auditActor, 'device.login', { type: 'user', id: userId }, { role: [null, role] });
      return { token, user: { id: user.id, email: user.email, name: user.name }, orgId, orgs: [org] };
    });
  }

  async #withPendingDevice<T>(
    actor: Actor,
    userCode: string,
    work: (tx: Tx, device: devices.PendingDeviceLogin) => Promise<T>,
  ): Promise<T> {
    const { session } = actor;
    // A session of single sign-on may approve devices for its organization; one of a device may not.
    if (session !== null && session.roleMax !== null && !(session.sso && session.kind === 'browser'))
      throw new Forbidden(
        'this session is limited to one organization: approve the device in a browser that is logged in',
      );
    if (session?.recent !== true) {
      throw new Forbidden('log in again: approving a device requires a login within the last 15 minutes');
    }
    await this.throttle.consume(`device-code:${actor.userId}`, CODES_PER_USER_MAX, THROTTLE_WINDOW_S, 'device codes');
    const result = await this.sql.begin(async (tx) => {
      // Locks the session before reading the user's session version. A session that is revoked now can then not approve
      // a session that outlives it.
      await lockActiveSession(tx, actor);
      const device = await devices.lockPendingDeviceLogin(tx, hashUserCode(userCode));
      if (device === null) throw new NotFound('device code: it is mistyped, used or older than 10 minutes');
      return work(tx, device);
    });
    return result as T;
  }
}

function generateUserCode(): string {
  const letters = Array.from({ length: 8 }, () => USER_CODE_ALPHABET[randomInt(USER_CODE_ALPHABET.length)]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Ignores case and hyphens, because people type the code by hand. */
const hashUserCode = (code: string): Buffer => sha256(code.toUpperCase().replace(/[^A-Z]/g, ''));
