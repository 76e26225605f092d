/** The providers of a chaos run as one process: OpenAI, S3 and a tenant's own. `{ports, journal}` as JSON argument. */

import { type Body, OpenAiStandIn } from '@acg/stand-in-provider/openai';
import type { ReceivedRequest } from '@acg/stand-in-provider/stand-in-provider';
import type { StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { startCustomProvider } from './custom-provider-echo-server.js';
import { ProviderJournal } from './evidence/provider-journal.js';
import { CUSTOM_PROVIDER_KEY, type ProviderSettings } from './provider-settings.js';
import { parseCallPurpose } from './traffic/call-purpose-in-id.js';

const MAX_RESPONSE_DELAY_MS = 120;
/** Below the number of bytes of any body. */
const PROMPT_TOKENS = 200;

const settings = JSON.parse(process.env.CHAOS_PROVIDER!) as ProviderSettings;
const journal = new ProviderJournal(settings.journal);

class RecordingOpenAi extends OpenAiStandIn {
  protected override respond(request: ReceivedRequest): StandInResponse {
    const id = callIdOfChat(request);
    journal.recordArrival(id);
    const isHurried = parseCallPurpose(id) === 'steady';
    return { ...super.respond(request), ...(isHurried ? {} : { pauseMs: Math.random() * MAX_RESPONSE_DELAY_MS }) };
  }

  /** A burst call uses nearly all tokens that it may, so that a budget covers exactly the admitted calls. */
  protected override chatUsage(body: Body): object {
    if (parseCallPurpose(String(body.user)) !== 'burst') return super.chatUsage(body);
    const completion_tokens = Number(body.max_completion_tokens);
    return { prompt_tokens: PROMPT_TOKENS, completion_tokens, total_tokens: PROMPT_TOKENS + completion_tokens };
  }

  protected override onResponseSent(request: ReceivedRequest): void {
    journal.recordAnswered(callIdOfChat(request));
  }
}

class RecordingS3 extends S3StandIn {
  protected override respond(request: ReceivedRequest): StandInResponse {
    journal.recordArrival(callIdOfObject(request));
    return super.respond(request);
  }

  protected override onResponseSent(request: ReceivedRequest): void {
    journal.recordAnswered(callIdOfObject(request));
  }
}

const callIdOfChat = (request: ReceivedRequest): string =>
  (JSON.parse(request.body.toString()) as { user: string }).user;
/** The object's key is the call id; the put and the delete of an object are two calls. */
const callIdOfObject = (request: ReceivedRequest): string => {
  const key = request.path.split('/').at(-1) ?? '';
  return request.method === 'DELETE' ? `${key}-deleted` : key;
};

const openai = await new RecordingOpenAi().start(settings.openaiPort);
const s3 = await new RecordingS3(PROVIDER_CREDENTIALS.s3).start(settings.s3Port);
for (const provider of [openai, s3]) provider.recordsRequests = false; // they are not read, and the run is long
openai.answerWords = Array.from({ length: 10 }, (_, i) => ` word-${i}`);
await startCustomProvider(settings.customPort, CUSTOM_PROVIDER_KEY, journal);
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true, port: settings.openaiPort });
