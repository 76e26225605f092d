/**
 * Journal of the calls that the provider received. Written to disk at once, because the provider is killed with
 * SIGKILL, too.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { ProviderObservation } from './evidence-types.js';

export class ProviderJournal {
  constructor(readonly file: string) {}

  recordArrival(callId: string): void {
    appendFileSync(this.file, `${callId} seen ${Date.now()}\n`);
  }

  recordAnswered(callId: string): void {
    appendFileSync(this.file, `${callId} answered ${Date.now()}\n`);
  }

  /** One observation per call; a call that was forwarded twice keeps its first receive time. */
  read(): ProviderObservation[] {
    const observations = new Map<string, ProviderObservation>();
    const lines = existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n') : [];
    for (const line of lines) {
      const [callId, what, at] = line.split(' ');
      if (callId === undefined || what === undefined) continue;
      const known = observations.get(callId) ?? { callId, receivedAt: Number(at), answered: false };
      observations.set(callId, { ...known, answered: known.answered || what === 'answered' });
    }
    return [...observations.values()];
  }
}
