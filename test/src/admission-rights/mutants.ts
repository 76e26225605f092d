/** Admission rights without one part of a rule each. The oracle must find a violation of every one. */
import { RightsHolder } from './rights-holder.js';
import { maxUnusedRights, type RequestLimits, type RightsMessage } from './rights-messages.js';
import { type Counts, type RightsEntry, RightsStore } from './rights-store.js';
import { RIGHTS_LOGIC, type RightsLogic } from './simulation.js';

const withStore = (Store: typeof RightsStore): RightsLogic => ({
  ...RIGHTS_LOGIC,
  createStore: (rules) => new Store(rules),
});
const withHolder = (Holder: typeof RightsHolder): RightsLogic => ({
  ...RIGHTS_LOGIC,
  createHolder: (writer, rules) => new Holder(writer, rules),
});

export const MUTANTS: Readonly<Record<string, RightsLogic>> = {
  'rule 1: a grant ignores the rights of other writers': withStore(
    class extends RightsStore {
      protected override maxRights(limits: RequestLimits, uses: Counts): number {
        return super.maxRights(limits, uses, 0);
      }
      protected override rightsPerWriter(limits: RequestLimits): number {
        return maxUnusedRights(this.rules, limits);
      }
    },
  ),
  'rule 1: an admission ignores unused rights': withStore(
    class extends RightsStore {
      protected override countRights(): number {
        return 0;
      }
    },
  ),
  'rule 1: unused rights are bounded by the limit only': withStore(
    class extends RightsStore {
      protected override maxRights(limits: RequestLimits, uses: Counts, others: number): number {
        const { requestsPerMinute, requestsPerDay } = limits;
        return Math.min(requestsPerMinute - uses.minute, requestsPerDay - uses.day) - others;
      }
      protected override rightsPerWriter(limits: RequestLimits): number {
        return limits.requestsPerMinute;
      }
    },
  ),
  'rule 1: pairs with a limit of tokens get rights': withStore(
    class extends RightsStore {
      protected override mayHaveRights(): boolean {
        return true;
      }
    },
  ),
  'rule 2: messages state the uses since the last message': {
    createHolder: (writer, rules) =>
      new (class extends RightsHolder {
        #lastTotal = 0;
        override createMessage(requestCount: number, limits: RequestLimits, nowUs: number): RightsMessage {
          const message = super.createMessage(requestCount, limits, nowUs);
          const confirmed = this.#lastTotal;
          this.#lastTotal = message.total;
          return { ...message, confirmed };
        }
      })(writer, rules),
    createStore: (rules) =>
      new (class extends RightsStore {
        protected override growth(message: RightsMessage): number {
          return super.growth(message, undefined);
        }
      })(rules),
  },
  'rule 2: the store ignores uses of grants that it does not know': withStore(
    class extends RightsStore {
      protected override growth(message: RightsMessage, known: RightsEntry | undefined): number {
        return known === undefined ? 0 : super.growth(message, known);
      }
    },
  ),
  'rule 2: any message frees the unused rights of its writer': withStore(
    class extends RightsStore {
      protected override freesRights(): boolean {
        return true;
      }
    },
  ),
  'rule 2: an older message frees rights that were granted since': withStore(
    class extends RightsStore {
      protected override freesRights({ version, voidBelowVersion }: RightsMessage): boolean {
        return version === voidBelowVersion;
      }
    },
  ),
  'rule 2: uses count from the grant on': withStore(
    class extends RightsStore {
      protected override stampUs(nowUs: number, known: RightsEntry | undefined): number {
        return known === undefined ? nowUs : Math.min(nowUs, known.untilUs - this.rules.termUs);
      }
    },
  ),
  'rule 3: the deadline runs from the reply': withHolder(
    class extends RightsHolder {
      protected override deadlineUs(_sentAtUs: number, repliedAtUs: number): number {
        return super.deadlineUs(repliedAtUs, repliedAtUs);
      }
    },
  ),
  'rule 3: a decision is written after a stall': withHolder(
    class extends RightsHolder {
      protected override isStalled(): boolean {
        return false;
      }
    },
  ),
  'rule 3: the deadline leaves no time for a stall': withHolder(
    class extends RightsHolder {
      protected override deadlineUs(sentAtUs: number): number {
        return sentAtUs + this.rules.termUs;
      }
    },
  ),
  'rule 4: unused rights lead to rejections': withStore(
    class extends RightsStore {
      protected override isRejected(limits: RequestLimits, uses: Counts, nowUs: number): boolean {
        const rights = this.countRights(nowUs);
        return super.isRejected(limits, { minute: uses.minute + rights, day: uses.day + rights }, nowUs);
      }
    },
  ),
  'rule 4: returned rights are not freed': withStore(
    class extends RightsStore {
      protected override freesRights(): boolean {
        return false;
      }
    },
  ),
  'rule 4: rights are granted near a limit and while a call waits': withStore(
    class extends RightsStore {
      protected override isNearLimit(): boolean {
        return false;
      }
      protected override isSomeCallWaiting(): boolean {
        return false;
      }
    },
  ),
  'rule 4: rights are granted while a call waits': withStore(
    class extends RightsStore {
      protected override isSomeCallWaiting(): boolean {
        return false;
      }
    },
  ),
  'rule 5: rights of a dead holder are free after their term': withStore(
    class extends RightsStore {
      protected override countExpiredRights(): number {
        return 0;
      }
    },
  ),
  'rule 6: another server grants rights at once and leaves no room': withStore(
    class extends RightsStore {
      protected override isOnNewServer(): boolean {
        return false;
      }
    },
  ),
  'rule 6: another server leaves no room': withStore(
    class extends RightsStore {
      protected override countUnknownRights(): number {
        return 0;
      }
    },
  ),
  'rule 6: rights outlive failures and new limits': withHolder(
    class extends RightsHolder {
      override endRights(): void {}
    },
  ),
  'rule 6: replies under way grant rights after a failure': withHolder(
    class extends RightsHolder {
      protected override isVoid(): boolean {
        return false;
      }
    },
  ),
};
