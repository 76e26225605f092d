/**
 * The texts of all mails. Links carry their token after `#`, so that it appears in no server log and no Referer header.
 */
import type { Mail } from './mailer.js';

const buildTokenLink = (publicUrl: string, page: string, token: string): string =>
  `${publicUrl}/${page}#token=${token}`;
const FOOTER = '\n\nIf you did not expect this mail, you can ignore it.\n';

export const createVerificationMail = (publicUrl: string, to: string, token: string): Mail => ({
  to,
  purpose: 'verify',
  subject: 'Confirm your e-mail address',
  text: `Welcome to the Agent Credential Gateway.

Confirm your address within 24 hours:

${buildTokenLink(publicUrl, 'verify-email', token)}

Without a browser: POST ${publicUrl}/v1/auth/verify-email {"token": "${token}"}${FOOTER}`,
});

export const createPasswordResetMail = (publicUrl: string, to: string, token: string): Mail => ({
  to,
  purpose: 'reset',
  subject: 'Set a new password',
  text: `A new password was requested for this address.

Set it within one hour. This revokes all existing sessions:

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
(new users: your name and a new password; existing users: your password, or the Authorization header of a session)${FOOTER}`,
});

export const createSuspensionMail = (publicUrl: string, to: string, items: number): Mail => ({
  to,
  purpose: 'suspended',
  subject: 'Review suspended items',
  text: `Your account was used before this address was confirmed, maybe by another person. So ${items} items in your
organizations are suspended: gateway tokens, management tokens, webhooks, members, invitations, provider credentials, custom
providers and single sign-on that were created before. None of them works until you keep it.

Review them now and keep or revoke each: ${publicUrl}/suspended

Command line: acg suspended ls\n`,
});

interface DeletionText {
  readonly name: string;
  /** E-mail address of the owner who deleted or restored the organization. */
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
  text: `${by} has deleted the organization ${name}, from the IP address ${ip}.

Its gateway tokens and management tokens were revoked at once, and its calls have stopped. Everything else in it will be
deleted at ${purgeAt.toISOString()}. Until then any owner can restore it: log in at ${publicUrl}/, or acg org restore.

If you did not agree to this, restore the organization and ask ${by} to change the password.\n`,
});

export const createRestorationMail = (publicUrl: string, to: string, { name, by, ip }: DeletionText): Mail => ({
  to,
  purpose: 'restored',
  subject: `${name} was restored`,
  text: `${by} has restored the organization ${name}, from the IP address ${ip}.

Its gateway tokens and management tokens stay revoked. Create new ones at ${publicUrl}/.\n`,
});

const SECOND_FACTOR_CHANGES = {
  'second_factor.enable': 'A second factor was added to your account.',
  'second_factor.renew_recovery_codes':
    'The recovery codes of your account were replaced. The old ones no longer work.',
  'second_factor.remove': 'The second factor of your account was removed.',
} as const;
const CHANGE_PASSWORD_ADVICE = 'If this was not you, change your password: this revokes all other sessions.\n';

export const createSecondFactorMail = (
  to: string,
  { action, ip }: { readonly action: keyof typeof SECOND_FACTOR_CHANGES; readonly ip: string },
): Mail => ({
  to,
  purpose: 'second-factor',
  subject: 'The second factor of your account was changed',
  text: `${SECOND_FACTOR_CHANGES[action]} The request came from the IP address ${ip}.

${CHANGE_PASSWORD_ADVICE}`,
});

export const createRecoveryCodeUsedMail = (
  to: string,
  { ip, left }: { readonly ip: string; readonly left: number },
): Mail => ({
  to,
  purpose: 'second-factor',
  subject: 'A recovery code of your account was used',
  text: `A recovery code was used instead of a code of your authenticator app, from the IP address ${ip}. ${left} are left.

${CHANGE_PASSWORD_ADVICE}`,
});

/** Leaves out the name and hostname that the device reports: an attacker may have chosen them. */
export const createDeviceApprovalMail = (
  to: string,
  { ip, role }: { readonly ip: string; readonly role: string },
): Mail => ({
  to,
  purpose: 'device',
  subject: 'A device was connected to your account',
  text: `You approved a device at the IP address ${ip}. It can act for you with at most the role ${role}.

If this was not you, change your password: this revokes all other sessions. List and revoke single sessions with GET and DELETE
/v1/sessions.\n`,
});
