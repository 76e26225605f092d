/**
 * Published limits of OpenAI and Anthropic on the highest bill of one call: context windows, output maxima, tokens of
 * images, pages and seconds, numbers of responses. All pages were read on 2026-11-23. The table was written without
 * knowledge of the reservation code, which {@link ./reservation-bound.property.test.ts} checks against it.
 */

/** How a model converts an image into tokens. */
export type ImageRule =
  /** `base + perTile` for each 512 px tile after scaling to 2048 px and 768 px on the short side: at most 8 tiles. */
  | { readonly kind: 'tiles'; readonly base: number; readonly perTile: number }
  /** Patches of 32 px, at most `patchesMax` (more are scaled down or rejected), times `multiplier`. */
  | { readonly kind: 'patches'; readonly patchesMax: number; readonly multiplier: number }
  /** Anthropic: patches of 28 px, scaled down to `tokensMax`. */
  | { readonly kind: 'visual_tokens'; readonly tokensMax: number };

export interface ModelLimits {
  /** The largest input of one prompt, tokens. */
  readonly tokensInMax: number;
  /** The largest output of one response, tokens. */
  readonly tokensOutMax: number;
  /** Null: the model accepts no images. */
  readonly image: ImageRule | null;
  /** Anthropic: tokens of the hidden system prompt of a request with tools, for the more expensive `tool_choice`. */
  readonly toolPromptTokens?: number;
}

/**
 * Tile and patch rules: https://developers.openai.com/api/docs/guides/images-vision#calculating-costs. GPT-5.6 and
 * later treat `auto` as `original`, never scale down, and reject an image of more than 30 000 patches
 * (https://github.com/Prism-Shadow/agenthub/pull/194). The page's multipliers are 1.62 and 2.46 for the small models;
 * 1.2 for GPT-5.4 and later is measured (https://huggingface.co/datasets/JOHNISKING/image-token-cost: 12 megapixels
 * cost 11 868 tokens on GPT-5.5 and 14 364 on GPT-6).
 */
const tiles = (base: number, perTile: number): ImageRule => ({ kind: 'tiles', base, perTile });
const patches = (patchesMax: number, multiplier: number): ImageRule => ({ kind: 'patches', patchesMax, multiplier });
/** https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size */
const HIGH_RESOLUTION: ImageRule = { kind: 'visual_tokens', tokensMax: 4_784 };
const LOW_RESOLUTION: ImageRule = { kind: 'visual_tokens', tokensMax: 1_568 };

const limits = (tokensInMax: number, tokensOutMax: number, image: ImageRule | null, toolPromptTokens = 0) => ({
  tokensInMax,
  tokensOutMax,
  image,
  toolPromptTokens,
});

/** Windows and maxima: https://developers.openai.com/api/docs/models/<model>. */
export const OPENAI_CHAT: Readonly<Record<string, ModelLimits>> = {
  'gpt-4o': limits(128_000, 16_384, tiles(85, 170)),
  'gpt-4o-mini': limits(128_000, 16_384, tiles(2_833, 5_667)),
  'gpt-4.1': limits(1_047_576, 32_768, tiles(85, 170)),
  'gpt-4.1-nano': limits(1_047_576, 32_768, patches(1_536, 2.46)),
  'gpt-5': limits(272_000, 128_000, tiles(70, 140)),
  'gpt-5-mini': limits(272_000, 128_000, patches(1_536, 1.62)),
  o3: limits(200_000, 100_000, tiles(75, 150)),
  'o4-mini': limits(200_000, 100_000, patches(1_536, 1.72)),
  'gpt-5.4': limits(922_000, 128_000, patches(10_000, 1.2)),
  'gpt-5.5': limits(922_000, 128_000, patches(10_000, 1.2)),
  'gpt-6-luna': limits(922_000, 128_000, patches(30_000, 1.2)),
  'gpt-6.1-sol': limits(922_000, 128_000, patches(30_000, 1.2)),
  // Not in the gateway's price list: it costs as much as the most expensive model.
  'gpt-6.2-sol': limits(922_000, 128_000, patches(30_000, 1.2)),
};

/** Audio input and output; Chat Completions only. */
export const OPENAI_AUDIO_CHAT: Readonly<Record<string, ModelLimits>> = {
  'gpt-audio': limits(128_000, 16_384, null),
  'gpt-audio-mini': limits(128_000, 16_384, null),
};

/** Search the web once before they respond: https://developers.openai.com/api/docs/guides/tools-web-search. */
export const OPENAI_SEARCH_CHAT: Readonly<Record<string, ModelLimits>> = {
  'gpt-4o-search-preview': limits(128_000, 16_384, null),
};

/** Text completions. */
export const OPENAI_COMPLETIONS: Readonly<Record<string, ModelLimits>> = {
  'gpt-3.5-turbo-instruct': limits(4_096, 4_096, null),
  'davinci-002': limits(16_384, 16_384, null),
};

/**
 * Windows: https://platform.claude.com/docs/en/about-claude/models/overview; hidden prompt of tools (the more expensive
 * of `auto` and `any`): https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing. Models that the
 * table lacks get the most expensive row.
 */
export const ANTHROPIC_MESSAGES: Readonly<Record<string, ModelLimits>> = {
  'claude-haiku-4-5': limits(200_000, 64_000, LOW_RESOLUTION, 588),
  'claude-sonnet-4-5': limits(200_000, 64_000, LOW_RESOLUTION, 588),
  'claude-opus-4-7': limits(1_000_000, 128_000, HIGH_RESOLUTION, 804),
  'claude-opus-5-5': limits(1_000_000, 128_000, HIGH_RESOLUTION, 804),
  'claude-sonnet-5-5': limits(1_000_000, 128_000, HIGH_RESOLUTION, 804),
  'claude-haiku-5-5': limits(1_000_000, 128_000, HIGH_RESOLUTION, 804),
  'claude-fable-5-2': limits(1_000_000, 128_000, HIGH_RESOLUTION, 804),
};

/** https://platform.claude.com/docs/en/api/completions/create: `/v1/complete` serves these models only. */
export const ANTHROPIC_COMPLETE: Readonly<Record<string, ModelLimits>> = {
  'claude-2.1': limits(200_000, 4_096, null),
};

/** Input tokens of Anthropic's own client tools, by the prefix of `type`; from the pages of the tools. */
export const ANTHROPIC_TOOL_TOKENS: Readonly<Record<string, number>> = { bash_: 245, text_editor_: 700 };

/** Bounds of one image when the call requests less detail. */
export const IMAGE_DETAIL = {
  /** `high`: 2 500 patches, or 2 048 px on the long side. */
  highPatchesMax: 2_500,
  /** `low`: 512 x 512 px. */
  lowPatchesMax: 256,
};

/** https://developers.openai.com/api/reference/resources/embeddings */
export const EMBEDDINGS = {
  models: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
  tokensPerInputMax: 8_192,
  inputsMax: 2_048,
  tokensPerRequestMax: 300_000,
};

/** https://developers.openai.com/api/reference/resources/completions and …/chat: bounds of the parameters. */
export const MAX_ANSWERS = { chatMax: 128, bestOfMax: 20 };

/**
 * Per message, for the start of the response, and per name:
 * https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
 */
export const TOKENS_PER_MESSAGE = 4;

/**
 * Generated images: https://developers.openai.com/api/docs/guides/image-generation#cost-and-latency. Tokens of
 * gpt-image-1-mini are the page's prices divided by its price per token.
 */
export const IMAGE_GENERATION = {
  /** Output tokens of one image in high quality: square, and any other shape. */
  tokensPerImage: {
    'gpt-image-1': [4_160, 6_240],
    'gpt-image-1.5': [4_160, 6_240],
    'gpt-image-1-mini': [4_500, 6_500],
  } as Readonly<Record<string, readonly [square: number, other: number]>>,
  /**
   * Tokens of `gpt-image-2` depend on the size: see {@link imageOutputTokens}. Without a size, or with `auto`: the
   * largest.
   */
  largest: [2_880, 2_880] as const,
  imagesMax: 10,
  tokensPerPartialImage: 100,
  partialImagesMax: 3,
  /** An input image: 65 + 129 × 4 tiles; high fidelity adds 6 240. */
  tokensPerInputImageMax: 6_821,
};

/**
 * Output tokens of `gpt-image-2` in high quality, read off the vendor's calculator:
 * https://community.openai.com/t/gpt-image-2-output-pricing-calculator-online-and-in-your-code/1382699
 */
export function imageOutputTokens(width: number, height: number): number {
  const shortSide = Math.round((96 * Math.min(width, height)) / Math.max(width, height));
  return Math.ceil((96 * shortSide * (2_000_000 + width * height)) / 4_000_000);
}

/** https://developers.openai.com/api/reference/resources/audio, …/docs/models/gpt-4o-mini-tts */
export const SPEECH = {
  charactersMax: 4_096,
  tokensInMax: 2_000,
  /** Audio tokens per text token, measured: https://www.s-anand.net/blog/openai-tts-cost/ */
  audioTokensPerTextToken: 6,
  textBytesPerToken: 4,
};

/**
 * https://developers.openai.com/api/docs/models/gpt-4o-transcribe; whisper-1 bounds the bytes of the file, not its
 * length.
 */
export const TRANSCRIPTION: Readonly<Record<string, { readonly tokensInMax: number; readonly tokensOutMax: number }>> =
  {
    'gpt-4o-transcribe': { tokensInMax: 16_000, tokensOutMax: 2_000 },
    'gpt-4o-mini-transcribe': { tokensInMax: 16_000, tokensOutMax: 2_000 },
  };

/**
 * One token per 100 ms: https://developers.openai.com/api/docs/guides/realtime-costs. No MP3 has fewer bytes per
 * second.
 */
export const AUDIO_INPUT = { tokensPerSecond: 10, mp3BytesPerSecondMin: 1_000 };

/** https://developers.openai.com/api/reference/resources/videos: the length when the call names none. */
export const VIDEO_SECONDS_DEFAULT = 4;

/**
 * Tools that the vendor runs within one response: each use is a further prompt of at most the window. OpenAI's
 * `max_tool_calls` bounds all of them together, Anthropic's `max_uses` each of them
 * (https://developers.openai.com/api/reference/resources/responses,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool). Without such a bound, and for every
 * other hosted tool, no highest bill exists. `fee`: the cost of a use beside its tokens.
 */
export const HOSTED_TOOLS: Readonly<Record<string, { readonly fee: 'search' | 'file' | 'container' | null }>> = {
  web_search: { fee: 'search' },
  file_search: { fee: 'file' },
  code_interpreter: { fee: 'container' },
  web_search_20250305: { fee: 'search' },
  web_fetch_20250910: { fee: null },
};
/** No bound is published: the output of these tools, and of other servers that use it, has no maximum cost. */
export const UNBOUNDED_TOOLS: readonly string[] = ['image_generation', 'mcp', 'code_execution_20250825'];
/**
 * Memory in gigabytes of a container of OpenAI's code interpreter, which determines its price. A response uses one
 * container for each such tool: https://developers.openai.com/api/docs/guides/tools-code-interpreter.
 */
export const CONTAINER_GIGABYTES: Readonly<Record<string, number>> = { '1g': 1, '4g': 4, '16g': 16, '64g': 64 };
