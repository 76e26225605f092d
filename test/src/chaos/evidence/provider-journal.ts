/** What the provider has seen, on disk at once: it is killed hard like everything else, and must not forget. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { ProviderObservation } from './history.js';

export class ProviderJournal {
  constructor(readonly file: string) {}

  recordArrival(callId: string): void {
    appendFileSync(this.file, `${callId} seen ${Date.now()}\n`);
  }

  recordAnswered(callId: string): void {
    appendFileSync(this.file, `${callId} answered ${Date.now()}\n`);
  }

  /** One per call; a call that was sent up twice counts from the first time. */
  read(): ProviderObservation[] {
    const sightings = new Map<string, ProviderObservation>();
    const lines = existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n') : [];
    for (const line of lines) {
      const [callId, what, at] = line.split(' ');
      if (callId === undefined || what === undefined) continue;
      const known = sightings.get(callId) ?? { callId, receivedAt: Number(at), answered: false };
      sightings.set(callId, { ...known, answered: known.answered || what === 'answered' });
    }
    return [...sightings.values()];
  }
}
