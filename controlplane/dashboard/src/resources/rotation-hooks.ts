/** The rotation of a stored credential with overlap: its live state, and the actions of a person. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import type { ConnectTarget, useAccount } from './connection-hooks.js';
import { invalidateAccounts } from './provider-account-mutations.js';

export type Rotation = NonNullable<NonNullable<ReturnType<typeof useAccount>['data']>['rotation']>;
export type RotationAction = 'cancel' | 'roll_back' | 'retire' | 'compromised';

export const useRotationAction = ({ kind, id }: ConnectTarget) =>
  useMutation({
    mutationFn: async (action: RotationAction): Promise<void> => {
      const request = { params: { path: { id } }, body: { action } };
      if (kind === 'account') await api.post('/v1/providers/accounts/{id}/rotation', request);
      else await api.post('/v1/credentials/{id}/rotation', request);
    },
    // Also after an error: another person, or the gateway, may have ended the rotation.
    onSettled: invalidateAccounts,
  });
