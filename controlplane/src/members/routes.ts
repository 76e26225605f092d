import { type Authenticator, getClientInfo } from '../auth/authenticator.js';
import { createAuthThrottleHook } from '../auth/routes.js';
import { LoginReply, SecondFactorRejection } from '../auth/users/auth-schema.js';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted } from '../http/schema.js';
import type { Throttle } from '../throttling/throttle.js';
import type { InvitationAcceptance } from './invitation-acceptance.js';
import {
  AcceptInput,
  AcceptRefused,
  InvitedReply,
  InviteInput,
  MemberList,
  MemberParams,
  MemberQuery,
  MemberReply,
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
        response: { 200: Deleted, 403: SecondFactorRejection },
      },
    },
    async ({ actor, params }) => {
      await members.remove(actor, params.userId);
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
