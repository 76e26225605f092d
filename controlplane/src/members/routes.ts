import { Type } from 'typebox';
import { type Authenticator, getClientInfo } from '../auth/authenticator.js';
import { createAuthThrottleHook } from '../auth/routes.js';
import { LoginReply, SecondFactorRejection } from '../auth/users/auth-schema.js';
import type { App } from '../http/app.js';
import { PageQuery, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted } from '../http/schema.js';
import type { Throttle } from '../throttling/throttle.js';
import type { InvitationAcceptance } from './invitation-acceptance.js';
import {
  AcceptInput,
  AcceptRefused,
  CreatedItems,
  InvitationDetails,
  InvitedReply,
  InviteInput,
  LookupInput,
  MemberList,
  MemberParams,
  MemberQuery,
  MemberReply,
  MemberSessionList,
  MemberSessionParams,
  RemovalQuery,
  RoleInput,
} from './schema.js';
import type { MemberService } from './service.js';

interface MemberServices {
  readonly members: MemberService;
  readonly acceptance: InvitationAcceptance;
  readonly throttle: Throttle;
  readonly authenticator: Authenticator;
}

export function memberRoutes(app: App, { members, acceptance, throttle, authenticator }: MemberServices): void {
  app.get(
    '/v1/members',
    {
      config: { access: 'viewer', tokens: false },
      schema: {
        ...operation('Members', 'listMembers', 'List members and open invitations'),
        querystring: MemberQuery,
        response: { 200: MemberList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await members.list(actor, query, { limit, offset });
      return { members: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/members',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Members', 'inviteMember', 'Invite a member by e-mail'),
        body: InviteInput,
        response: { 201: InvitedReply, 403: SecondFactorRejection },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send(await members.invite(actor, body.email, body.role)),
  );
  app.post(
    '/v1/members/:userId/resend',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Members', 'resendInvitation', 'Resend an invitation'),
        params: MemberParams,
        response: { 201: InvitedReply, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params }, reply) => reply.code(201).send(await members.resend(actor, params.userId)),
  );
  app.patch(
    '/v1/members/:userId',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Members', 'setMemberRole', 'Change the role of a member'),
        params: MemberParams,
        body: RoleInput,
        response: { 200: MemberReply, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params, body }) => ({ member: await members.changeRole(actor, params.userId, body.role) }),
  );
  app.delete(
    '/v1/members/:userId',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Members', 'removeMember', 'Remove a member or revoke an invitation'),
        params: MemberParams,
        querystring: RemovalQuery,
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params, query }) => {
      await members.remove(actor, params.userId, query.revoke === 'created');
      return { deleted: true as const };
    },
  );
  app.get(
    '/v1/members/:userId/created',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation(
          'Members',
          'listCreatedByMember',
          'List what a member created: tokens, webhooks, running runs, trust rules',
        ),
        params: MemberParams,
        response: { 200: CreatedItems },
      },
    },
    async ({ actor, params }) => members.listCreated(actor, params.userId),
  );
  app.get(
    '/v1/members/:userId/sessions',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation('Members', 'listMemberSessions', 'List the sessions of a member in this organization'),
        params: MemberParams,
        querystring: Type.Object(PageQuery),
        response: { 200: MemberSessionList },
      },
    },
    async ({ actor, params, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await members.listSessions(actor, params.userId, { limit, offset });
      return { sessions: [...rows], total, limit, offset };
    },
  );
  app.delete(
    '/v1/members/:userId/sessions',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation('Members', 'endMemberSessions', 'End all sessions of a member in this organization'),
        params: MemberParams,
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params }) => {
      await members.endSessions(actor, params.userId, null);
      return { deleted: true as const };
    },
  );
  app.delete(
    '/v1/members/:userId/sessions/:sessionId',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation('Members', 'endMemberSession', 'End a session of a member in this organization'),
        params: MemberSessionParams,
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params }) => {
      await members.endSessions(actor, params.userId, params.sessionId);
      return { deleted: true as const };
    },
  );
  app.delete(
    '/v1/members/me',
    {
      config: { access: 'session', account: true },
      schema: {
        ...operation('Members', 'leaveOrganization', 'Leave the organization'),
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor }) => {
      await members.leave(actor);
      return { deleted: true as const };
    },
  );
  app.post(
    '/v1/invitations/lookup',
    {
      config: { access: 'public' },
      onRequest: createAuthThrottleHook(throttle),
      schema: {
        ...operation('Members', 'lookUpInvitation', 'Get the invitation of a token from a mail'),
        errorStatuses: [429],
        body: LookupInput,
        response: { 200: InvitationDetails },
      },
    },
    async (request) => acceptance.describe(request.body.token, await authenticator.findSessionUserId(request)),
  );
  app.post(
    '/v1/invitations/accept',
    {
      config: { access: 'public' },
      onRequest: createAuthThrottleHook(throttle),
      schema: {
        ...operation('Members', 'acceptInvitation', 'Accept an invitation with the token from a mail'),
        errorStatuses: [401, 403, 409, 429],
        body: AcceptInput,
        response: { 200: LoginReply, 401: AcceptRefused },
      },
    },
    async (request) =>
      acceptance.accept(request.body, await authenticator.findSessionUserId(request), getClientInfo(request)),
  );
}
