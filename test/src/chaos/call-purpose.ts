/** What a call is for; the provider, which sees nothing but its id, answers accordingly. */
export type CallPurpose = 'lane' | 'burst' | 'steady';

export const idFor = (purpose: CallPurpose, number: number): string => `${purpose}-${number}`;

export const purposeOf = (callId: string): CallPurpose => callId.split('-')[0] as CallPurpose;
