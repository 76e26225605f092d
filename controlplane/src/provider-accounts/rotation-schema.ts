/** Rotation of a credential with overlap, as the API shows it (docs/contract.md#rotation-with-overlap). */
import { type Static, Type } from 'typebox';
import { Body } from '../http/schema.js';

const ROTATION_STATES = ['testing', 'rejected', 'retiring', 'retired', 'rolled_back', 'cancelled'] as const;
export type RotationState = (typeof ROTATION_STATES)[number];

const ROTATION_ACTIONS = ['cancel', 'roll_back', 'retire', 'compromised'] as const;
export type RotationAction = (typeof ROTATION_ACTIONS)[number];

const KEEP_SECONDS_MAX = 604_800;
export const KEEP_SECONDS_DEFAULT = 600;

const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });
const nullableInteger = (description: string) => Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

const RotationFields = Type.Object({
  state: Type.Unsafe<RotationState>({
    type: 'string',
    enum: [...ROTATION_STATES],
    description:
      'testing: the new credential is stored and not in use. rejected: the provider does not accept it. retiring: it is in ' +
      'use, and the previous one is kept. retired: the previous one is deleted. rolled_back: the previous one is in use again.',
  }),
  startedAt: Type.String({ format: 'date-time' }),
  testStatus: nullableInteger('HTTP status of the last test; null: no answer.'),
  problem: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Why the last test did not accept the credential.',
  }),
  nextTestAt: nullableTime('When a credential that could not be tested is tested again.'),
  inUseSince: nullableTime('From when on new calls carry the new credential.'),
  keepUntil: nullableTime('Until then the previous credential is kept, even without calls that use it.'),
  retiresBy: nullableTime('When the previous credential is deleted at the latest.'),
  callsInFlight: nullableInteger(
    'Calls and WebSockets in flight with the previous credential; null: not every data plane has reported.',
  ),
  endedAt: nullableTime('When the rotation ended.'),
  compromised: Type.Boolean({ description: 'The previous credential is compromised and never used again.' }),
});
export type RotationView = Static<typeof RotationFields>;

export const Rotation = Type.Unsafe<RotationView | null>({
  ...RotationFields,
  type: ['object', 'null'],
  description: 'The current or last rotation with overlap; null: no rotation has started.',
});

export const TwoVersionOptions = {
  testFirst: Type.Optional(
    Type.Boolean({
      description:
        'Store the credential in addition to the current one, test it, then use it; calls in flight finish with the previous one.',
    }),
  ),
  keepSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: KEEP_SECONDS_MAX,
      description: `With testFirst: how long the previous credential is kept at least. Default ${KEEP_SECONDS_DEFAULT}.`,
    }),
  ),
  compromised: Type.Optional(
    Type.Boolean({
      description: 'The current credential may be leaked. Replaces it at once and aborts its calls in flight.',
    }),
  ),
};

export const RotationActionInput = Body({
  action: Type.Unsafe<RotationAction>({
    type: 'string',
    enum: [...ROTATION_ACTIONS],
    description:
      'cancel: delete the new credential. roll_back: use the previous one again, if the provider accepts it. retire: delete ' +
      'the previous one now; its calls in flight finish. compromised: delete the previous one at once and abort its calls in flight.',
  }),
});
export type RotationActionInput = Static<typeof RotationActionInput>;

/** For the API document. */
export const EXAMPLES = {
  rotation: null,
  testFirst: true,
  keepSeconds: KEEP_SECONDS_DEFAULT,
  'RotateInput.compromised': undefined,
  'RotationActionInput.action': 'retire',
};
