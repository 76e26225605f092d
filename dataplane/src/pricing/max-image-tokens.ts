/**
 * Maximum tokens of one image by the vendors' published formulas. The file size gives no bound: a white image of 2048 x
 * 768 pixels has a few hundred bytes. Pure.
 */
import { findVendor, type Vendor } from '@acg/base/pricing/price-plan';

/** Vendor of a model, whose formulas apply wherever the model is hosted. */
export type ModelVendor = Vendor | 'google';

export function findModelVendor(priceProvider: string, model: string): ModelVendor | null {
  const isHost = priceProvider === 'aws' || priceProvider === 'google' || priceProvider === 'azure';
  if (isHost && model.includes('claude')) return 'anthropic';
  if (priceProvider === 'google' && model.startsWith('gemini-')) return 'google';
  return priceProvider === 'azure' ? 'openai' : findVendor(priceProvider);
}

/**
 * OpenAI scales an image into 2048 x 2048 and its shorter side to 768: at most eight tiles of 512 x 512. gpt-4o-mini
 * counts 2 833 plus 5 667 per tile, other models at most 85 plus 170 per tile. Patch models count at most 1 536 patches
 * of 32 x 32, each at most 2.46 tokens; gpt-5.1 to 5.5 count at most 10 000 (`detail: original`).
 * https://platform.openai.com/docs/guides/images-vision#calculating-costs
 *
 * GPT-5.6 and later never scale an image down, and reject more than 30 000 patches
 * (https://github.com/Prism-Shadow/agenthub/pull/194). A patch is 1.2 tokens there
 * (https://huggingface.co/datasets/JOHNISKING/image-token-cost). Unknown models are treated as later ones.
 */
const TILES_MAX = 8;
const MINI_TOKENS = 2_833 + TILES_MAX * 5_667;
const TOKENS_PER_PATCH = 2.46;
const FEW_PATCHES_TOKENS = Math.ceil(1_536 * TOKENS_PER_PATCH);
const MANY_PATCHES_TOKENS = Math.ceil(10_000 * TOKENS_PER_PATCH);
const UNSCALED_TOKENS = Math.ceil(30_000 * 1.2);
const FEW_PATCHES = /^(?:gpt-4|chatgpt-4o|o[134](?:-|$)|computer-use|gpt-5(?:-(?!image)|$))/;
/** Image generation models, too, read images of at most 10 000 patches. */
const MANY_PATCHES = /^gpt-(?:5\.[1-5](?!\d)|5-image|image)/;
/** A PDF page is read in `detail: high`: 2 500 patches. */
const PAGE_PATCHES_TOKENS = Math.ceil(2_500 * TOKENS_PER_PATCH);
/** 65 plus 129 per tile, up to 6 240 more to preserve the image (`input_fidelity`), and 32 for text. */
const EDITED_TOKENS = 65 + TILES_MAX * 129 + 6_240 + 32;
/** At most 4 784 on high-resolution models (https://platform.claude.com/docs/en/build-with-claude/vision). */
const ANTHROPIC_TOKENS = 5_000;

/**
 * Gemini 3: at most 2 240 for an image and 1 120 for a page; Gemini 2: about 2 300
 * (https://ai.google.dev/gemini-api/docs/media-resolution). Twice as many, because the second figure is not exact.
 */
const GOOGLE_TOKENS = 5_000;

/** Maximum tokens of an input image. Null: the vendor's formula is unknown. */
export function maxInputImageTokens(vendor: ModelVendor | null, model: string): number | null {
  if (vendor === 'anthropic') return ANTHROPIC_TOKENS;
  if (vendor === 'google') return GOOGLE_TOKENS;
  if (vendor !== 'openai') return null;
  if (/gpt-4o-mini/i.test(model)) return MINI_TOKENS;
  if (model.startsWith('gpt-image-1')) return EDITED_TOKENS;
  if (FEW_PATCHES.test(model)) return FEW_PATCHES_TOKENS;
  return MANY_PATCHES.test(model) ? MANY_PATCHES_TOKENS : UNSCALED_TOKENS;
}

/** Maximum tokens of a PDF page, without its text. Null: the vendor's formula is unknown. */
export function maxPageTokens(vendor: ModelVendor | null, model: string): number | null {
  const tokens = maxInputImageTokens(vendor, model);
  return tokens === MANY_PATCHES_TOKENS || tokens === UNSCALED_TOKENS ? PAGE_PATCHES_TOKENS : tokens;
}

/**
 * 1024 x 1536 in high quality: 6 240 for gpt-image-1 and 1.5. gpt-image-1-mini: $0.052 by the price page, at $8 per
 * million tokens (https://developers.openai.com/api/docs/guides/image-generation#cost-and-latency).
 */
const GENERATED_TOKENS = 6_240;
const MINI_GENERATED_TOKENS = 6_500;
/**
 * gpt-image-2 draws any size up to 8.3 megapixels. The most expensive is 2880 x 2880 with 23 719 tokens, by the
 * calculator in https://community.openai.com/t/gpt-image-2-output-pricing-calculator-online-and-in-your-code/1382699
 */
const LARGE_GENERATED_TOKENS = 24_000;
/** Tokens of each partial image that is streamed before the final one. */
const PARTIAL_TOKENS = 100;

/** Maximum tokens of a generated image with `partialImages` partial images before it. */
export function maxOutputImageTokens(model: string, partialImages: number): number {
  return maxGeneratedImageTokens(model) + partialImages * PARTIAL_TOKENS;
}

function maxGeneratedImageTokens(model: string): number {
  if (model.startsWith('gpt-image-1-mini')) return MINI_GENERATED_TOKENS;
  return /^gpt-image-1(?:[.-]|$)/.test(model) ? GENERATED_TOKENS : LARGE_GENERATED_TOKENS;
}
