/**
 * Queue of messages to an agent. A long message leaves in pieces, each when the agent's socket has taken the one
 * before. So this process counts and drops what a slow agent has not taken. The server would keep those bytes for a
 * closed agent for as long as it reads a little now and then.
 */
import type { WebSocket } from 'uWebSockets.js';

/** The server's WebSocket to an agent. Its typings lack the fragments. */
export interface AgentSocket extends Pick<WebSocket<unknown>, 'send' | 'end' | 'getBufferedAmount'> {
  sendFirstFragment(bytes: Buffer, isBinary: boolean): number;
  sendFragment(bytes: Buffer): number;
  sendLastFragment(bytes: Buffer): number;
}

interface QueuedMessage {
  readonly message: Buffer;
  readonly isBinary: boolean;
}

/** A longer message leaves in pieces of this size, bytes. */
export const FRAGMENT_BYTES = 64 * 1024;
/** Memory of a queued message beside its bytes; measured with one byte each. */
export const QUEUED_OVERHEAD_BYTES = 200;
/** Results of the server's send; with the first two the server has taken the bytes. */
const SEND_STATUS_BACKPRESSURE = 0;
const SEND_STATUS_DROPPED = 2;

export class AgentOutbox {
  readonly #agent: AgentSocket;
  readonly #queue: QueuedMessage[] = [];
  /** Offset in the first queued message. */
  #sentBytes = 0;
  /** Memory of all queued messages, bytes; the first counts whole until its last piece has left. */
  #queuedBytes = 0;
  /** The agent's socket takes no more until it drains. */
  #isFull = false;
  /** The server has dropped bytes. */
  hasDropped = false;

  constructor(agent: AgentSocket) {
    this.#agent = agent;
  }

  /** The server holds bytes that the agent has not taken. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Every byte has left this process. */
  get isEmpty(): boolean {
    return !this.#isFull && this.#queue.length === 0;
  }

  /** Memory of what the agent has not taken, bytes. */
  get heldBytes(): number {
    return this.#isFull ? this.#queuedBytes + this.#agent.getBufferedAmount() : this.#queuedBytes;
  }

  send(message: Buffer, isBinary: boolean): void {
    if (this.isEmpty && message.length <= FRAGMENT_BYTES) {
      this.#onSendStatus(this.#agent.send(message, isBinary));
      return;
    }
    this.#queue.push({ message, isBinary });
    this.#queuedBytes += message.length + QUEUED_OVERHEAD_BYTES;
    this.#flush();
  }

  /** The agent's socket takes bytes again, or may have begun to hold some. */
  onSocketChange(): void {
    this.#isFull = this.#agent.getBufferedAmount() > 0;
    this.#flush();
  }

  #flush(): void {
    for (let first = this.#queue[0]; first !== undefined && !this.#isFull && !this.hasDropped; first = this.#queue[0]) {
      const { message, isBinary } = first;
      const piece = message.subarray(this.#sentBytes, this.#sentBytes + FRAGMENT_BYTES);
      const isFirst = this.#sentBytes === 0;
      this.#sentBytes += piece.length;
      const isLast = this.#sentBytes === message.length;
      if (isLast) {
        this.#queue.shift();
        this.#queuedBytes -= message.length + QUEUED_OVERHEAD_BYTES;
        this.#sentBytes = 0;
      }
      this.#onSendStatus(this.#sendFragment(piece, isBinary, isFirst, isLast));
    }
  }

  #sendFragment(piece: Buffer, isBinary: boolean, isFirst: boolean, isLast: boolean): number {
    if (isFirst && isLast) return this.#agent.send(piece, isBinary);
    if (isFirst) return this.#agent.sendFirstFragment(piece, isBinary);
    return isLast ? this.#agent.sendLastFragment(piece) : this.#agent.sendFragment(piece);
  }

  #onSendStatus(status: number): void {
    if (status === SEND_STATUS_BACKPRESSURE) this.#isFull = true;
    else if (status === SEND_STATUS_DROPPED) this.hasDropped = true;
  }
}
