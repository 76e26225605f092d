/** Events about the credentials of accounts and shared credentials; a part of the catalogue (event-catalogue.ts). */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { type TObject, Type } from 'typebox';
import { defineEvent, type EventType } from './define-event.js';
import { Cents, ClosedObject, Id } from './event-fields.js';

const CredentialChange = ClosedObject({
  providerSlug: Type.String(),
  accountId: Type.Union([Id, Type.Null()], { description: 'Null for a shared credential.' }),
  credentialId: Type.Union([Id, Type.Null()], {
    description: 'Id of the shared credential; null for the credential of an account.',
  }),
  agentId: Type.Union([Id, Type.Null()]),
  orgId: Id,
});

const RotationChange = ClosedObject({
  ...CredentialChange.properties,
  compromised: Type.Boolean({ description: 'An admin has marked the previous credential as compromised.' }),
});

const SAMPLE_CREDENTIAL = {
  providerSlug: 'openai',
  accountId: NIL_UUID,
  credentialId: null,
  agentId: NIL_UUID,
  orgId: NIL_UUID,
};
const SAMPLE_ROTATION = { ...SAMPLE_CREDENTIAL, compromised: false };

export const CREDENTIAL_EVENT_TYPES = {
  'credential.refused': defineEvent({
    title: 'Provider rejected a credential',
    description: 'A provider rejects the credential of an account, which is out of use.',
    severity: 'critical',
    schema: CredentialChange,
    sample: SAMPLE_CREDENTIAL,
    mailedFields: ['providerSlug'],
  }),
  'credential.accepted': defineEvent({
    title: 'Provider accepts the credential again',
    description: 'A provider accepts the credential of an account again, which is back in use.',
    severity: 'notice',
    schema: CredentialChange,
    sample: SAMPLE_CREDENTIAL,
    mailedFields: ['providerSlug'],
  }),
  'credential.refresh_failed': defineEvent({
    title: 'Credential not minted',
    description:
      'The gateway cannot mint the credential of an account. Sent once, when none is left or the third attempt has failed.',
    severity: 'critical',
    schema: ClosedObject({
      ...CredentialChange.properties,
      reason: Type.String({ description: 'Code of the cause.' }),
      detail: Type.Union([Type.String(), Type.Null()], { description: 'Error code of the token endpoint.' }),
    }),
    sample: { ...SAMPLE_CREDENTIAL, reason: 'invalid_client', detail: 'invalid_client' },
    mailedFields: ['providerSlug', 'reason'],
  }),
  'credential.refreshed': defineEvent({
    title: 'Credential minted again',
    description: 'The gateway has minted the credential of an account after `credential.refresh_failed`.',
    severity: 'notice',
    schema: CredentialChange,
    sample: SAMPLE_CREDENTIAL,
    mailedFields: ['providerSlug'],
  }),
  'credential.rotated': defineEvent({
    title: 'New credential in use',
    description: 'The provider accepts the new credential of a rotation with overlap, and new calls carry it.',
    severity: 'info',
    schema: RotationChange,
    sample: SAMPLE_ROTATION,
    mailedFields: ['providerSlug'],
  }),
  'credential.rotation_failed': defineEvent({
    title: 'New credential rejected',
    description:
      'The provider does not accept the new credential of a rotation with overlap. The current one stays in use.',
    severity: 'warning',
    schema: CredentialChange,
    sample: SAMPLE_CREDENTIAL,
    mailedFields: ['providerSlug'],
  }),
  'credential.rolled_back': defineEvent({
    title: 'Credential rolled back',
    description:
      'The previous credential of a rotation with overlap is in use again: the provider rejects the new one, or an admin rolled back.',
    severity: 'warning',
    schema: RotationChange,
    sample: SAMPLE_ROTATION,
    mailedFields: ['providerSlug'],
  }),
  'credential.retired': defineEvent({
    title: 'Previous credential deleted',
    description:
      'The previous credential of a rotation with overlap is deleted from the gateway. Revoke it at the provider.',
    severity: 'info',
    schema: RotationChange,
    sample: SAMPLE_ROTATION,
    mailedFields: ['providerSlug'],
  }),
  'credential.used_elsewhere': defineEvent({
    title: 'Provider key used elsewhere',
    description:
      'The provider bills calls of a key that the gateway did not make: another program has the key. Sent once per key and day, from the threshold of the billing account on.',
    severity: 'critical',
    schema: ClosedObject({
      providerSlug: Type.String(),
      keyLabel: Type.String({ description: 'The key as the provider shows it.' }),
      day: Type.String(),
      unattributedCents: Cents,
      orgId: Id,
    }),
    sample: {
      providerSlug: 'openai',
      keyLabel: 'sk-abc***xyz',
      day: '2000-01-01',
      unattributedCents: 1_250,
      orgId: NIL_UUID,
    },
    mailedFields: ['providerSlug', 'unattributedCents'],
  }),
} satisfies Readonly<Record<string, Pick<EventType<TObject>, 'title' | 'severity'>>>;
