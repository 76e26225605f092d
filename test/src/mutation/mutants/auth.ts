import type { Area } from '../mutant.js';

export const AUTH: Area = {
  name: 'auth',
  tests: ['test/src/auth/signup-and-login.test.ts', 'test/src/auth/sessions.test.ts'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/auth/users/user-store.ts',
      find: `delete from email_tokens where token_hash = \${hash} and purpose = \${purpose}
`,
      put: `delete from email_tokens where token_hash = \${hash}
`,
      bug: 'an e-mail token of one purpose serves another',
      tests: ['test/src/auth/email-tokens.test.ts'],
    },
    {
      file: 'controlplane/src/auth/users/user-store.ts',
      find: 'return row?.live === true ? row.userId : null;',
      put: 'return row?.userId ?? null;',
      bug: 'an expired e-mail token works',
      tests: ['test/src/auth/email-tokens.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/users/user-store.ts',
      find: `  await tx\`delete from email_tokens where user_id = \${userId} and purpose = \${purpose}\`;
`,
      put: '',
      bug: 'older e-mails of the same kind stay valid',
      tests: ['test/src/auth/email-tokens.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/users/user-store.ts',
      find: `  await tx\`delete from email_tokens where user_id = \${userId}\`;
`,
      put: '',
      bug: 'a changed password leaves reset e-mails alive',
      tests: ['test/src/auth/email-tokens.test.ts', 'test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `      await revokeUserSessions(tx, userId, null);
`,
      put: '',
      bug: 'a password reset revokes no session',
      tests: ['test/src/auth/signup-and-login.test.ts', 'test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `      await deleteTokensCreatedBy(tx, user.id);`,
      put: '',
      bug: 'management tokens created on an unverified account survive the reset',
      tests: [
        'test/src/auth/management-tokens.test.ts',
        'test/src/organizations/invitations.test.ts',
        'test/src/auth/signup-and-login.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `    if (password !== undefined) await this.#assertAccountPassword(hash, password, ip);
`,
      put: '',
      bug: 'the confirmation page takes any password',
      tests: [
        'test/src/auth/email-link-pages.test.ts',
        'test/src/auth/email-tokens.test.ts',
        'test/src/auth/signup-and-login.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `      if (user === null || user.emailVerifiedAt !== null || !(await this.#isWithinMailLimit('verify', user.id))) return;`,
      put: '      if (user === null || user.emailVerifiedAt !== null) return;',
      bug: 'verification e-mails flood a mailbox',
      tests: [
        'test/src/auth/email-tokens.test.ts',
        'test/src/auth/signup-and-login.test.ts',
        'test/src/controlplane/mail.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `|| !(await this.#isWithinMailLimit('reset', user.id))`,
      put: '',
      bug: 'reset e-mails flood a mailbox',
      tests: [
        'test/src/auth/signup-and-login.test.ts',
        'test/src/controlplane/mail.test.ts',
        'test/src/auth/email-tokens.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: `     where s.secret_hash = \${secretHash} and s.expires_at > now()
`,
      put: `     where s.secret_hash = \${secretHash}
`,
      bug: 'a browser session has no end',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: '       and s.last_seen_at > now() - make_interval(secs => ${BROWSER_IDLE_S})`;',
      put: '       and true`;',
      bug: 'an idle browser session never ends',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: '       and (s.generation = ${generation} or (s.generation = ${generation + 1} and s.previous_until > now()))`;',
      put: '       and s.generation >= ${generation}`;',
      bug: 'a retired bearer token stays good',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: `  if (!newest && !(generation === current - 1 && shared)) return generation < current ? 'reused' : null;
`,
      put: '',
      bug: 'a retired token can be refreshed',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: `  if (user.length === 0) return false;
`,
      put: '',
      bug: 'a session opens with a password that was changed meanwhile',
      tests: ['test/src/auth/sessions.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: `  await tx\`update users set session_version = session_version + 1 where id = \${userId}\`;
`,
      put: '',
      bug: 'tokens from before sessions were rows survive a reset',
      tests: ['test/src/auth/sessions.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: 'order by last_seen_at desc, id desc offset',
      put: 'order by last_seen_at, id offset',
      bug: 'the newest session is deleted when there are too many',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: 'delete from sessions where user_id = ${userId} and id = ${id} returning 1',
      put: 'delete from sessions where id = ${id} returning 1',
      bug: 'a user revokes the session of another',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: 'where s.id = ${id} and s.role_max is null and u.id = s.user_id',
      put: 'where s.id = ${id} and u.id = s.user_id',
      bug: 'a session approved for one organization moves to another',
      tests: ['test/src/auth/device-login.test.ts', 'test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-store.ts',
      find: `generation = generation + 1,
`,
      put: `generation = generation,
`,
      bug: 'a thief keeps the cookie that a stolen bearer token became',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/service.ts',
      find: `      await revokeUserSessions(tx, user.id, actor.session?.id ?? null);
`,
      put: '',
      bug: 'a changed password revokes no other session',
      tests: ['test/src/auth/sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/service.ts',
      find: `      else await revokeUserSessions(tx, userId, null);
`,
      put: '',
      bug: 'an account claimed by its e-mail address keeps the sessions of its creator',
      tests: ['test/src/organizations/invitations.test.ts', 'test/src/auth/account-takeover.test.ts'],
    },
    {
      file: 'controlplane/src/auth/recovery/account-recovery.ts',
      find: `const isReclaimed = before.emailVerifiedAt === null && sessionUserId !== userId;`,
      put: `const isReclaimed = before.emailVerifiedAt === null;`,
      bug: 'a founder with a live session loses everything after a reset',
      tests: ['test/src/auth/account-takeover.test.ts'],
    },
    {
      file: 'controlplane/src/suspension/suspendable-tables.ts',
      find: `restoreCondition: 'exists (select from memberships m where m.org_id = t.org_id and m.user_id = t.created_by)',`,
      put: `restoreCondition: 'true',`,
      bug: 'a kept management token waits for its creator to return',
      tests: ['test/src/auth/account-takeover.test.ts'],
    },
    {
      file: 'controlplane/src/throttling/throttle.ts',
      find: `    await this.clearFailuresAndTrustAddress(sql, email, ip);
  }`,
      put: '  }',
      bug: 'attackers lock the e-mail address that has just completed a reset',
      tests: ['test/src/auth/login-throttling.test.ts'],
    },
    {
      file: 'controlplane/src/orgs/deletion-service.ts',
      find: '    await this.auth.confirmPassword(actor, password);\n',
      put: '',
      bug: 'a stolen session deletes the organization',
      tests: ['test/src/organizations/organization-deletion.test.ts'],
    },
    {
      file: 'controlplane/src/auth/service.ts',
      find: `const role = await store.lockMembership(tx, orgId, actor.userId);
      if (user === null`,
      put: `const role = 'owner' as const;
      if (user === null`,
      bug: 'any user can switch into any organization',
      tests: [
        'test/src/organizations/organizations.test.ts',
        'test/src/auth/signup-and-login.test.ts',
        'test/src/auth/sessions.test.ts',
      ],
    },
    {
      file: 'controlplane/src/audit/audit-trail.ts',
      find: `if (rows.length === 0) await rejectRevokedActor`,
      put: `if (rows.length > 1) await rejectRevokedActor`,
      bug: 'a change commits although its actor lost the permission meanwhile',
      tests: ['test/src/auth/revocation-during-request.test.ts'],
    },
    {
      file: 'controlplane/src/http/app.ts',
      find: `request.actorStale = !request.raw.complete;`,
      put: `request.actorStale = false;`,
      bug: 'a call acts with the permissions from before it delayed its body',
      tests: ['test/src/auth/revocation-during-request.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `    if (actor.token !== null && (access === 'session' || config.tokens === false)) {`,
      put: `    if (actor.token !== null && access === 'session') {`,
      bug: 'a management token creates tokens and members',
      tests: ['test/src/auth/management-tokens.test.ts', 'test/src/auth/role-matrix.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `    if (config.account === true && isBoundToOrganization(actor)) {`,
      put: '    if (false) {',
      bug: 'a device approved for one organization changes the account',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `    const role = lowerRole(token.role, token.creatorRole);`,
      put: '    const { role } = token;',
      bug: 'a management token keeps the permissions that its creator lost',
      tests: ['test/src/auth/management-tokens.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `    const role = roleMax === null ? row.role : lowerRole(row.role, roleMax);`,
      put: '    const { role } = row;',
      bug: 'a device gets the role of its user instead of the approved one',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `    if (!SAFE_METHODS.has(request.method)) this.cookie.assertSameOrigin(request);
`,
      put: '',
      bug: 'a page of another site acts with the cookie',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/authenticator.ts',
      find: `return isBoundToOrganization(actor) || actor.token !== null ? null : actor.userId;`,
      put: 'return actor.userId;',
      bug: 'a management token counts as a recent login of its creator',
      tests: [
        'test/src/organizations/invitations.test.ts',
        'test/src/auth/management-tokens.test.ts',
        'test/src/auth/device-login.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/sessions/session-cookie.ts',
      find: `if (site === undefined ? headers.origin === this.#origin : site === 'same-origin') return;`,
      put: `if (site === undefined ? headers.origin === this.#origin : site !== 'cross-site') return;`,
      bug: 'another port of the same host acts with the cookie',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-cookie.ts',
      find: '      httpOnly: true,',
      put: '      httpOnly: false,',
      bug: 'scripts read the session cookie',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-cookie.ts',
      find: `sameSite: 'strict',`,
      put: `sameSite: 'lax',`,
      bug: 'other sites send the cookie',
      tests: ['test/src/auth/browser-sessions.test.ts'],
    },
    {
      file: 'controlplane/src/auth/sessions/session-token.ts',
      find: 'const keys = header.kid === undefined ? this.#keys : this.#keys.filter((key) => key.id === header.kid);',
      put: 'const keys = [this.#keys[0]!];',
      bug: 'tokens of the older secret fail while secrets are being replaced',
      tests: [
        'test/src/auth/sessions.test.ts',
        'test/src/auth/signup-and-login.test.ts',
        'test/src/secret-leaks/leaks-in-scenario.test.ts',
      ],
    },
    {
      file: 'controlplane/src/auth/sessions/session-token.ts',
      find: 'clockTolerance: REFRESH_GRACE_S * 1000',
      put: 'clockTolerance: REFRESH_GRACE_S * 100_000',
      bug: 'a token is refreshed years after its expiry',
      tests: ['test/src/auth/sessions.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-login.ts',
      find: '    if (session?.recent !== true) {',
      put: '    if (session === null) {',
      bug: 'an old session approves a device',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-login.ts',
      find: `      if (!isRoleAtLeast(ownRole, role))
        throw`,
      put: `      if (!isRoleAtLeast('owner', role)) throw`,
      bug: 'a device gets more than its user has',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-login.ts',
      find: '|| user.sessionVersion !== version)',
      put: ')',
      bug: 'an approval survives a password reset',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-login.ts',
      find: `    await this.throttle.consume(\`device-code:\${actor.userId}\`, CODES_PER_USER_MAX, THROTTLE_WINDOW_S, 'device codes');
`,
      put: '',
      bug: 'device codes can be guessed without end',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-login.ts',
      find: `    if (polled.polledTooSoon) throw new InvalidInput('slow_down');
`,
      put: '',
      bug: 'a device polls as fast as it likes',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-store.ts',
      find: `and status = 'pending' and expires_at > now() for update`,
      put: 'and expires_at > now() for update',
      bug: 'a decided code is decided again',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-store.ts',
      find: `and status = 'pending' and expires_at > now() for update`,
      put: `and status = 'pending' for update`,
      bug: 'an old code is approved',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/device-login/device-store.ts',
      find: `delete from device_logins where id = \${id} and status = 'approved' and expires_at > now()`,
      put: `update device_logins set polled_at = now() where id = \${id} and status = 'approved' and expires_at > now()`,
      bug: 'an approval gives any number of sessions',
      tests: ['test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/throttling/throttle.ts',
      find: `    if (row!.count > max) throw createTooManyAttempts(subject, row!.left);`,
      put: `    if (row!.count > max + 1) throw createTooManyAttempts(subject, row!.left);`,
      bug: 'one request more than the limit passes',
      tests: ['test/src/auth/login-throttling.test.ts'],
    },
    {
      file: 'controlplane/src/throttling/throttle.ts',
      find: `if (left !== null && !(await this.#isKnownAddress(email, ip)))
      throw`,
      put: 'if (left !== null) throw',
      bug: 'guesses from many addresses lock the owner out',
      tests: ['test/src/auth/login-throttling.test.ts'],
    },
    {
      file: 'controlplane/src/throttling/throttle.ts',
      find: `    await sql\`delete from throttle_marks where key = \${addressLoginKey(email, ip)}\`;
`,
      put: '',
      bug: 'failures before a login still count',
      tests: ['test/src/auth/login-throttling.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/throttling/throttle.ts',
      find: `    if (!accountRecorded) await this.assertLoginAllowed(email, ip, proof);
`,
      put: '',
      bug: 'parallel guesses test more passwords than sequential ones',
      tests: ['test/src/auth/login-throttling.test.ts', 'test/src/auth/signup-and-login.test.ts'],
    },
    {
      file: 'controlplane/src/auth/management-tokens/store.ts',
      find: '     where t.token_hash = ${tokenHash} and (t.expires_at is null or t.expires_at > now())`;',
      put: '     where t.token_hash = ${tokenHash}`;',
      bug: 'an expired management token works',
      tests: ['test/src/auth/management-tokens.test.ts'],
    },
    {
      file: 'controlplane/src/auth/management-tokens/store.ts',
      find: 'on m.org_id = t.org_id and m.user_id = t.created_by',
      put: 'on m.user_id = t.created_by',
      bug: 'a token stays valid in an organization that its creator left',
      tests: ['test/src/auth/management-tokens.test.ts'],
    },
    {
      file: 'controlplane/src/idempotency/stored-responses.ts',
      find: `where org_id = \${orgId} and actor_id = \${actorId} and key_hash = \${keyHash}
       and created_at > now()`,
      put: `where org_id = \${orgId} and key_hash = \${keyHash}
       and created_at > now()`,
      bug: 'another member gets the stored response',
      tests: ['test/src/controlplane/idempotency.test.ts'],
    },
    {
      file: 'controlplane/src/idempotency/stored-responses.ts',
      find: `       and created_at > now() - make_interval(secs => \${STORED_RESPONSE_LIFETIME_S})\`;
  return`,
      put: `       and true\`;
  return`,
      bug: 'a stored response never expires',
      tests: ['test/src/controlplane/idempotency.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `  const effectiveRole = currentRole === null || roleMax === null ? currentRole : lowerRole(currentRole, roleMax);`,
      put: `  const effectiveRole = currentRole;`,
      bug: 'a device with a low role manages members',
      tests: ['test/src/organizations/members.test.ts', 'test/src/auth/device-login.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `export const mayAssignRole = (actorRole: Role, role: Role): boolean =>
  isRoleAtLeast(actorRole, 'admin') && isRoleAtLeast(actorRole, role);`,
      put: `export const mayAssignRole = (actorRole: Role, _role: Role): boolean => isRoleAtLeast(actorRole, 'admin');`,
      bug: 'an admin creates owners',
      tests: ['test/src/organizations/members.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `      if (role !== 'owner') await assertNotLastOwner(tx, actor.orgId, before);
`,
      put: '',
      bug: 'the last owner is demoted',
      tests: ['test/src/organizations/members.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `        await store.deleteInvitationsCreatedBy(tx, actor.orgId, before.id);
`,
      put: `        void before;
`,
      bug: 'invitations of a demoted member stay open',
      tests: ['test/src/organizations/members.test.ts', 'test/src/organizations/invitations.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `    await this.throttle.consume(
      \`invited:\${recipient}\`,
      INVITATIONS_PER_RECIPIENT_TOTAL_MAX,
      RECIPIENT_WINDOW_S,
      subject,
    );
`,
      put: '',
      bug: 'many organizations flood one mailbox',
      tests: ['test/src/organizations/invitation-limits.test.ts'],
    },
    {
      file: 'controlplane/src/members/service.ts',
      find: `    if (this.usesOutbox || (await store.isEmailVerified(this.sql, actor.userId))) return;`,
      put: `    if (this.usesOutbox || actor.userId !== '') return;`,
      bug: 'an unverified sender e-mails arbitrary addresses',
      tests: ['test/src/organizations/invitation-limits.test.ts', 'test/src/organizations/invitations.test.ts'],
    },
    {
      file: 'controlplane/src/members/invitation-acceptance.ts',
      find: `      await assertInviterStillAllowed(tx, invitation);
`,
      put: '',
      bug: 'an invitation works although its inviter was removed',
      tests: ['test/src/organizations/invitations.test.ts'],
    },
    {
      file: 'controlplane/src/members/invitation-acceptance.ts',
      find: `      await store.deleteInvitation(tx, invitation.id);
`,
      put: '',
      bug: 'an invitation works twice',
      tests: ['test/src/organizations/invitations.test.ts'],
    },
    {
      file: 'controlplane/src/members/invitation-acceptance.ts',
      find: '    if (user !== null && (linkShown || user.emailVerifiedAt !== null)) {',
      put: '    if (user !== null && user.emailVerifiedAt !== null) {',
      bug: 'an inviter takes over an unverified account through the shown link',
      tests: ['test/src/organizations/invitations.test.ts'],
    },
    {
      file: 'controlplane/src/members/invitation-acceptance.ts',
      find: 'verified: !linkShown }',
      put: 'verified: true }',
      bug: 'a link that the inviter saw verifies the mailbox',
      tests: ['test/src/organizations/invitations.test.ts'],
    },
  ],
};
