/**
 * `npm run stand-in [port]`: the OpenAI stand-in of the quickstart. Port 0 selects a free one. It stores nothing and
 * accepts one key only. Exits with 69 when the port is in use.
 */
import { OPENAI_CREDENTIAL, OpenAiStandIn } from './openai.js';

const DEFAULT_PORT = 9001;
const EX_UNAVAILABLE = 69;

const provider = new OpenAiStandIn();
provider.recordsRequests = false;
try {
  await provider.start(Number(process.argv[2] ?? DEFAULT_PORT));
} catch (error) {
  process.stderr.write(`stand-in: ${(error as Error).message}: choose another port (npm run stand-in -- PORT)\n`);
  process.exit(EX_UNAVAILABLE);
}
process.stdout.write(`OpenAI stand-in on ${provider.origin}; the only key it takes: ${OPENAI_CREDENTIAL}\n`);
