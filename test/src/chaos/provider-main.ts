/** The providers of a chaos run as one process: OpenAI, S3 and a tenant's own. `{ports, journal}` as JSON argument. */
import type { Answer } from '../providers/answer.js';
import { REAL } from '../providers/credentials.js';
import { type Body, OpenAiStandIn } from '../providers/openai.js';
import { S3StandIn } from '../providers/s3.js';
import type { SeenRequest } from '../providers/stand-in.js';
import { purposeOf } from './call-purpose.js';
import { Journal } from './journal.js';
import { startOwnProvider } from './own-provider.js';
import { OWN_KEY, type ProviderSettings } from './provider-settings.js';

const PAUSE_MS_MAX = 120;
/** Fewer than a body has bytes. */
const PROMPT_TOKENS = 200;

const settings = JSON.parse(process.env.CHAOS_PROVIDER!) as ProviderSettings;
const journal = new Journal(settings.journal);

class SeenOpenAi extends OpenAiStandIn {
  protected override answer(request: SeenRequest): Answer {
    this.requests.length = 0; // nobody asks for them, and the run is long
    const id = userOf(request);
    journal.seen(id);
    const isHurried = purposeOf(id) === 'steady';
    return { ...super.answer(request), ...(isHurried ? {} : { pauseMs: Math.random() * PAUSE_MS_MAX }) };
  }

  /** A call of a burst uses nearly all that it may, so that a budget carries as many of them as were let in, and no more. */
  protected override chatUsage(body: Body): object {
    if (purposeOf(String(body.user)) !== 'burst') return super.chatUsage(body);
    const completion_tokens = Number(body.max_completion_tokens);
    return { prompt_tokens: PROMPT_TOKENS, completion_tokens, total_tokens: PROMPT_TOKENS + completion_tokens };
  }

  protected override answered(request: SeenRequest): void {
    journal.answered(userOf(request));
  }
}

class SeenS3 extends S3StandIn {
  protected override answer(request: SeenRequest): Answer {
    this.requests.length = 0;
    journal.seen(keyOf(request));
    return super.answer(request);
  }

  protected override answered(request: SeenRequest): void {
    journal.answered(keyOf(request));
  }
}

const userOf = (request: SeenRequest): string => (JSON.parse(request.body.toString()) as { user: string }).user;
/** A call's id is its object's key; putting and deleting are two calls. */
const keyOf = (request: SeenRequest): string => {
  const key = request.path.split('/').at(-1) ?? '';
  return request.method === 'DELETE' ? `${key}-deleted` : key;
};

const openai = await new SeenOpenAi().start(settings.openaiPort);
openai.words = Array.from({ length: 10 }, (_, i) => ` word-${i}`);
await new SeenS3(REAL.s3).start(settings.s3Port);
await startOwnProvider(settings.ownPort, OWN_KEY, journal);
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true, port: settings.openaiPort });
