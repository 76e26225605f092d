/**
 * Messages on their way to an agent. A long one leaves in pieces, each when the agent's socket has taken the one before:
 * what an agent that reads slowly has not taken is ours, to be counted and dropped, and not the server's, who would keep
 * it for an agent that has closed for as long as that reads a little now and then.
 */
import type { WebSocket } from 'uWebSockets.js';

/** The agent's side, as the server hands it over. Its typings lack the fragments. */
export interface AgentSocket extends Pick<WebSocket<unknown>, 'send' | 'end' | 'getBufferedAmount'> {
  sendFirstFragment(bytes: Buffer, isBinary: boolean): number;
  sendFragment(bytes: Buffer): number;
  sendLastFragment(bytes: Buffer): number;
}

interface Waiting {
  readonly message: Buffer;
  readonly isBinary: boolean;
}

/** A longer message leaves in pieces of this. */
export const PIECE_BYTES = 64 * 1024;
/** What a message that waits takes beside its bytes; measured with one byte each. */
export const WAITING_OVERHEAD_BYTES = 200;
/** What the server says of bytes that it was given; the first two: it has taken them. */
const FULL = 0;
const DROPPED = 2;

export class AgentOutbox {
  readonly #agent: AgentSocket;
  readonly #waiting: Waiting[] = [];
  /** Of the first that waits. */
  #sentBytes = 0;
  /** Of all that wait, as memory has them; the first is whole there until its last piece has left. */
  #waitingBytes = 0;
  /** The agent's socket takes no more until it drains. */
  #full = false;
  /** The server has thrown bytes away. */
  dropped = false;

  constructor(agent: AgentSocket) {
    this.#agent = agent;
  }

  /** The server holds bytes that the agent has not taken. */
  get full(): boolean {
    return this.#full;
  }

  /** Everything has left this process. */
  get empty(): boolean {
    return !this.#full && this.#waiting.length === 0;
  }

  /** What the agent has not taken takes so much memory. */
  get bytes(): number {
    return this.#full ? this.#waitingBytes + this.#agent.getBufferedAmount() : this.#waitingBytes;
  }

  send(message: Buffer, isBinary: boolean): void {
    if (this.empty && message.length <= PIECE_BYTES) {
      this.#note(this.#agent.send(message, isBinary));
      return;
    }
    this.#waiting.push({ message, isBinary });
    this.#waitingBytes += message.length + WAITING_OVERHEAD_BYTES;
    this.#flush();
  }

  /** The agent's socket takes bytes again, or may have begun to hold some. */
  look(): void {
    this.#full = this.#agent.getBufferedAmount() > 0;
    this.#flush();
  }

  #flush(): void {
    for (let first = this.#waiting[0]; first !== undefined && !this.#full && !this.dropped; first = this.#waiting[0]) {
      const { message, isBinary } = first;
      const piece = message.subarray(this.#sentBytes, this.#sentBytes + PIECE_BYTES);
      const isFirst = this.#sentBytes === 0;
      this.#sentBytes += piece.length;
      const isLast = this.#sentBytes === message.length;
      if (isLast) {
        this.#waiting.shift();
        this.#waitingBytes -= message.length + WAITING_OVERHEAD_BYTES;
        this.#sentBytes = 0;
      }
      this.#note(this.#sendPiece(piece, isBinary, isFirst, isLast));
    }
  }

  #sendPiece(piece: Buffer, isBinary: boolean, isFirst: boolean, isLast: boolean): number {
    if (isFirst && isLast) return this.#agent.send(piece, isBinary);
    if (isFirst) return this.#agent.sendFirstFragment(piece, isBinary);
    return isLast ? this.#agent.sendLastFragment(piece) : this.#agent.sendFragment(piece);
  }

  #note(status: number): void {
    if (status === FULL) this.#full = true;
    else if (status === DROPPED) this.dropped = true;
  }
}
