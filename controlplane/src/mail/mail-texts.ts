/** The texts of all mails. The token stands behind `#`, so that it reaches no server log and no Referer. */
import type { Mail } from './mailer.js';

const buildTokenLink = (publicUrl: string, page: string, token: string): string =>
  `${publicUrl}/${page}#token=${token}`;
const FOOTER = '\n\nIf you did not expect this mail, you need not do anything.\n';

export const createVerificationMail = (publicUrl: string, to: string, token: string): Mail => ({
  to,
  purpose: 'verify',
  subject: 'Confirm your e-mail address',
  text: `Welcome to the Agent Credential Gateway.

Confirm that this address is yours, within 24 hours:

${buildTokenLink(publicUrl, 'verify-email', token)}

Without a browser: POST ${publicUrl}/v1/auth/verify-email {"token": "${token}"}${FOOTER}`,
});

export const createPasswordResetMail = (publicUrl: string, to: string, token: string): Mail => ({
  to,
  purpose: 'reset',
  subject: 'Set a new password',
  text: `Somebody, probably you, asked for a new password for this address.

Set it within one hour; all sessions that are open then will end:

${buildTokenLink(publicUrl, 'reset-password', token)}

Without a browser: POST ${publicUrl}/v1/auth/reset-password {"token": "${token}", "password": "…"}${FOOTER}`,
});

export const buildInvitationLink = (publicUrl: string, token: string): string =>
  buildTokenLink(publicUrl, 'accept-invitation', token);

interface InvitationText {
  readonly orgName: string;
  readonly role: string;
  readonly invitedBy: string;
}

export const createInvitationMail = (publicUrl: string, to: string, token: string, text: InvitationText): Mail => ({
  to,
  purpose: 'invitation',
  subject: `Invitation to ${text.orgName}`,
  text: `${text.invitedBy} invites you to the organization ${text.orgName} as ${text.role}.

Accept within 7 days:

${buildInvitationLink(publicUrl, token)}

Without a browser: POST ${publicUrl}/v1/invitations/accept {"token": "${token}", "name": "…", "password": "…"}
(without an account: your name and a new password; with one: its password, or the header of one of its sessions)${FOOTER}`,
});

export const createSuspensionMail = (publicUrl: string, to: string, items: number): Mail => ({
  to,
  purpose: 'suspended',
  subject: 'Review what was made before',
  text: `Your account was used before this address was confirmed, maybe by somebody else. So ${items} items in your
organizations are suspended: gateway tokens, management tokens, webhooks, members, invitations, provider credentials and
custom providers that were made before. None of them works until you keep it.

Review them now, and keep or revoke each: ${publicUrl}/suspended

On the command line: acg suspended ls\n`,
});

interface DeletionText {
  readonly name: string;
  /** Address of the owner who did it. */
  readonly by: string;
  readonly ip: string;
}

export const createDeletionMail = (
  publicUrl: string,
  to: string,
  { name, by, ip, purgeAt }: DeletionText & { readonly purgeAt: Date },
): Mail => ({
  to,
  purpose: 'deletion',
  subject: `${name} will be deleted`,
  text: `${by} has deleted the organization ${name}, from the address ${ip}.

Its gateway tokens and management tokens were revoked at once, and its calls have stopped. Everything else in it will be
deleted at ${purgeAt.toISOString()}. Until then any owner can restore it: log in at ${publicUrl}/, or acg org restore.

If this was not agreed, restore it and have ${by} change the password.\n`,
});

export const createRestorationMail = (publicUrl: string, to: string, { name, by, ip }: DeletionText): Mail => ({
  to,
  purpose: 'restored',
  subject: `${name} was restored`,
  text: `${by} has restored the organization ${name}, from the address ${ip}.

Its gateway tokens and management tokens stay revoked: make new ones at ${publicUrl}/.\n`,
});

/** Nothing of what the device says of itself: a stranger may have chosen it. */
export const createDeviceApprovalMail = (
  to: string,
  { ip, role }: { readonly ip: string; readonly role: string },
): Mail => ({
  to,
  purpose: 'device',
  subject: 'A device was let in',
  text: `You approved a device that asked from the address ${ip}: it may act for you with at most the role ${role}.

If it was not you, change your password: that ends all sessions. You see and end them one by one with GET and DELETE
/v1/sessions.\n`,
});
