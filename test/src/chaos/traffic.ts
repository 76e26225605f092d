/**
 * Lanes of calls of every kind, each through any of the data planes. A lane waits for its call to end, then for a moment;
 * after a call that was refused or broke, for longer, as SDKs do.
 */
import { Agent } from 'node:http';
import type { CallTrace } from './history.js';
import { sendCall } from './http-call.js';
import type { SecretWatch } from './invariants/secrets.js';
import { CallMaker } from './make-call.js';
import { openSocket } from './socket-call.js';
import type { ChaosAgent } from './tenants.js';
import type { DataPlane } from './world.js';

/** Idle connections end before the data plane ends them: a call on one that is just being closed would break. */
const IDLE_MS = 3_000;
const FAILED_PAUSE_MS = 700;
const SOCKET_MESSAGES_MAX = 60;

type Lane = (maker: CallMaker, plane: DataPlane, send: Send) => Promise<CallTrace>;
type Send = (call: Parameters<typeof sendCall>[0]) => Promise<CallTrace>;

interface LaneOptions {
  readonly agent: ChaosAgent;
  readonly lanes: number;
  readonly pauseMs: number;
  readonly run: Lane;
}

export class Traffic {
  readonly calls: CallTrace[] = [];
  readonly maker = new CallMaker();
  readonly #planes: readonly DataPlane[];
  readonly #secrets: SecretWatch;
  readonly #lanes: Promise<void>[] = [];
  #underWay = 0;
  #stopped = false;

  constructor(planes: readonly DataPlane[], secrets: SecretWatch) {
    this.#planes = planes;
    this.#secrets = secrets;
  }

  get underWay(): number {
    return this.#underWay;
  }

  start(agents: readonly ChaosAgent[]): void {
    for (const agent of agents) {
      for (const options of lanesOf(agent, this.#secrets)) {
        for (let i = 0; i < options.lanes; i++) this.#lanes.push(this.#lane(options));
      }
    }
  }

  /** No new calls; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
  }

  async #lane({ pauseMs, run }: LaneOptions): Promise<void> {
    const connections = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS });
    const send: Send = (call) => sendCall(call, connections, this.#secrets);
    while (!this.#stopped) {
      const plane = this.#planes[Math.floor(Math.random() * this.#planes.length)]!;
      this.#underWay++;
      const trace = await run(this.maker, plane, send);
      this.#underWay--;
      this.calls.push(trace);
      const failed = trace.status === null || trace.status >= 400;
      const ms = (failed ? FAILED_PAUSE_MS : pauseMs) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
    connections.destroy();
  }
}

function lanesOf(agent: ChaosAgent, secrets: SecretWatch): LaneOptions[] {
  const lane = (lanes: number, pauseMs: number, run: Lane): LaneOptions => ({ agent, lanes, pauseMs, run });
  const chat: Lane = (maker, plane, send) => send(maker.chat(agent, plane, false));
  const stream: Lane = (maker, plane, send) => send(maker.chat(agent, plane, true));
  if (agent.hardBudget) return [lane(2, 150, chat), lane(2, 150, stream)];
  if (agent.rpmLimit !== null) return [lane(3, 400, chat)];
  if (agent.budgetNanos !== null) return [lane(1, 300, chat), lane(1, 300, stream)];
  return [
    lane(3, 150, chat),
    lane(4, 200, stream),
    lane(2, 250, (maker, plane, send) => send(maker.upload(agent, plane))),
    lane(2, 250, objectLane(agent)),
    lane(1, 250, (maker, plane, send) => send(maker.echo(agent, plane))),
    lane(3, 300, (maker, plane) => {
      const id = maker.nextId();
      const url = `${plane.url.replace('http', 'ws')}${maker.socketPath(agent, id)}`;
      const messages = 1 + Math.floor(Math.random() * SOCKET_MESSAGES_MAX);
      const { token } = agent;
      return openSocket({ id, agent: agent.agent, plane: plane.part.victim, url, token, messages }, secrets);
    }),
  ];
}

/** Puts an object, then deletes it. */
function objectLane(agent: ChaosAgent): Lane {
  const put: string[] = [];
  return async (maker, plane, send) => {
    const trace = await send(maker.s3(agent, plane, put.pop() ?? null));
    if (trace.status === 200 && trace.complete) put.push(trace.id);
    return trace;
  };
}
