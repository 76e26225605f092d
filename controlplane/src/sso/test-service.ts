/**
 * Tests the single sign-on of an organization without a person: what the provider answers, and what is missing here. Each
 * test is in the audit trail; an organization has at most 30 an hour, because each sends requests to the provider.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import type { Throttle } from '../throttling/throttle.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { describeTest } from './describe-test.js';
import { openConnection } from './open-connection.js';
import { type ProviderProbe, probeProvider } from './probe-provider.js';
import type { SsoTestReply } from './schema.js';
import type { SsoSettingsService } from './settings-service.js';
import * as store from './store.js';

const TESTS_MAX = 30;
const TESTS_WINDOW_S = 3_600;

interface TestDependencies {
  readonly sql: Sql;
  readonly vault: Vault;
  readonly dialer: Dialer;
  readonly throttle: Throttle;
  readonly settings: SsoSettingsService;
  readonly publicUrl: string;
  readonly allowCidrs: readonly string[];
  readonly resolveHost: (orgId: string) => Parameters<typeof checkTenantUrl>[1]['resolve'];
}

export class SsoTestService {
  constructor(readonly dependencies: TestDependencies) {}

  async test(actor: Actor): Promise<SsoTestReply> {
    const { sql, throttle, settings } = this.dependencies;
    const { orgId } = actor;
    await throttle.consume(`sso-test:${orgId}`, TESTS_MAX, TESTS_WINDOW_S, 'tests of single sign-on');
    const row = await store.loadConnection(sql, orgId);
    const probe = row === null ? null : await this.#probe(row);
    const { connection, domains, redirectUri } = await settings.get(actor);
    const groupsClaim = connection !== null && connection.groupRoles.length > 0 ? connection.groupsClaim : null;
    const facts = {
      probe,
      redirectUri,
      domains,
      connection: connection === null ? null : { ...connection, groupsClaim },
    };
    const steps = [...describeTest(facts)];
    const failures = steps.filter(({ ok }) => ok === false).map(({ name }) => name);
    const target = row === null ? { type: 'organization', id: orgId } : { type: 'sso', id: row.id };
    await sql.begin((tx) => recordAudit(tx, actor, 'sso.test', target, { failed: [null, failures] }));
    return { ok: failures.length === 0, steps };
  }

  #probe(row: store.ConnectionRow): Promise<ProviderProbe> {
    const { dialer, allowCidrs, resolveHost } = this.dependencies;
    const { orgId } = row;
    const checkUrl = (url: string) => checkTenantUrl(url, { allowCidrs, httpsOnly: true, resolve: resolveHost(orgId) });
    return runWithoutRequestSlot(() => probeProvider(dialer, openConnection(this.dependencies, row), checkUrl));
  }
}
