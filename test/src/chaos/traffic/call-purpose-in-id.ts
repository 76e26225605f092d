/** Purpose of a call. The provider sees only the call id and responds accordingly. */
export type CallPurpose = 'lane' | 'burst' | 'steady';

export const createCallId = (purpose: CallPurpose, number: number): string => `${purpose}-${number}`;

export const parseCallPurpose = (callId: string): CallPurpose => callId.split('-')[0] as CallPurpose;
