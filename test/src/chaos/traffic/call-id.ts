/** What a call is for; the provider, which sees nothing but its id, answers accordingly. */
export type CallPurpose = 'lane' | 'burst' | 'steady';

export const createCallId = (purpose: CallPurpose, number: number): string => `${purpose}-${number}`;

export const parseCallPurpose = (callId: string): CallPurpose => callId.split('-')[0] as CallPurpose;
