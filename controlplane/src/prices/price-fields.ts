/**
 * The fields of a price in PRICES_FILE, which `GET /v1/prices` shows under the same names. One row for each price that the
 * meter knows.
 */
import type { TierPercents, TokenRates, UnitPrices } from '@acg/base/pricing/price-plan';

interface Field<Name> {
  /** Name in the file and in the API. */
  readonly field: string;
  /** Name in a price plan. */
  readonly name: Name;
  /** Whole units of the plan per 1 USD (or per 1 percent). */
  readonly scale: number;
  readonly max: number;
  readonly says: string;
}

/** Far above every list price; a larger value is a misplaced decimal point. */
const USD_PER_MTOK_MAX = 1_000_000;
const USD_PER_UNIT_MAX = 1_000;
const PICO_PER_TOKEN = 1e6;
const PICO = 1e12;

const rate = (field: string, name: keyof TokenRates, says: string): Field<keyof TokenRates> => ({
  field,
  name,
  scale: PICO_PER_TOKEN,
  max: USD_PER_MTOK_MAX,
  says: `USD per million tokens: ${says}`,
});

export const RATE_FIELDS: readonly Field<keyof TokenRates>[] = [
  rate('inputPerMTok', 'input', 'uncached input'),
  rate('outputPerMTok', 'output', 'output, reasoning included'),
  rate('cachedInputPerMTok', 'cacheRead', 'input read from a cache'),
  rate('cacheWritePerMTok', 'cacheWrite', 'input written to a cache for 5 minutes'),
  rate('cacheWrite1hPerMTok', 'cacheWrite1h', 'input written to a cache for 1 hour'),
  rate('audioInputPerMTok', 'audioIn', 'input that is audio'),
  rate('imageInputPerMTok', 'imageIn', 'input that is an image'),
  rate('audioOutputPerMTok', 'audioOut', 'output that is audio'),
  rate('imageOutputPerMTok', 'imageOut', 'output that is an image'),
];

const unit = (field: string, name: keyof UnitPrices, unitsPerPrice: number, says: string): Field<keyof UnitPrices> => ({
  field,
  name,
  scale: PICO / unitsPerPrice,
  max: USD_PER_UNIT_MAX * unitsPerPrice,
  says: `USD ${says}`,
});

export const UNIT_FIELDS: readonly Field<keyof UnitPrices>[] = [
  unit('perThousandWebSearchesUsd', 'picoPerWebSearch', 1_000, 'for 1000 web searches'),
  unit('perThousandFileSearchesUsd', 'picoPerFileSearch', 1_000, 'for 1000 file searches'),
  unit('perContainerUsd', 'picoPerContainer', 1, 'for one session of a container of 1 GB'),
  unit('perCodeSessionUsd', 'picoPerCodeSession', 1, 'for one answer that ran code'),
  unit('perAudioMinuteUsd', 'picoPerAudioSecond', 60, 'for one minute of transcribed audio'),
  unit('perVideoSecondUsd', 'picoPerVideoSecond', 1, 'for one second of video'),
  unit('perLargeVideoSecondUsd', 'picoPerLargeVideoSecond', 1, 'for one second of video in the larger size'),
  unit('perMillionCharactersUsd', 'picoPerCharacter', 1_000_000, 'for a million characters of spoken text'),
];

const tier = (name: keyof TierPercents, says: string): Field<keyof TierPercents> => ({
  field: `${name}Percent`,
  name,
  scale: 1,
  max: 10_000,
  says: `Percent of the token prices: ${says}`,
});

export const TIER_FIELDS: readonly Field<keyof TierPercents>[] = [
  tier('batch', 'lines of batches'),
  tier('flex', 'service tier flex'),
  tier('priority', 'service tier priority'),
  tier('fast', 'service tier or speed fast'),
  tier('ultrafast', 'service tier ultrafast'),
  tier('us', 'inference in the US alone'),
];

/** Price of one image, by kind. */
export const IMAGE_FIELD = { field: 'perImageUsd', scale: PICO, max: USD_PER_UNIT_MAX } as const;
/** Price of one request in addition to its tokens, in nano-dollars. */
export const REQUEST_FIELD = { field: 'perRequestUsd', scale: 1e9, max: 10_000 } as const;
/** Of a tool of an MCP server: a result with `isError: true` costs the same. */
export const ERRORS_FIELD = 'chargeErrors';
