/** Where calls of a provider name their model (docs/contract.md#agent-policies). */
import type { ModelCall, ModelPreset, ProviderFile } from './provider-definition.js';

/** Returns the calls that a provider file lists itself, by slug. */
export type PresetCalls = ReadonlyMap<ModelPreset, readonly ModelCall[]>;

export function readPresetCalls(files: readonly ProviderFile[], presets: readonly ModelPreset[]): PresetCalls {
  return new Map(
    presets.map((preset) => {
      const models = files.find(({ slug }) => slug === preset)?.models;
      return [preset, Array.isArray(models) ? models : []];
    }),
  );
}

/**
 * The calls of a preset for a provider of the same format; its paths may have another prefix. Azure names the model in
 * the path of OpenAI's calls.
 */
export function applyModelPreset(preset: ModelPreset, calls: PresetCalls): readonly ModelCall[] {
  const anywhere = calls.get(preset)!.map(({ call, at }) => ({ call: call.replace('/v1/', '/**/'), at }));
  return preset === 'openai' ? [{ call: '* /**/deployments/*/**', at: 'path:deployments' }, ...anywhere] : anywhere;
}

export const resolveModelCalls = (models: ProviderFile['models'], calls: PresetCalls): readonly ModelCall[] =>
  models === undefined || Array.isArray(models)
    ? (models ?? [])
    : applyModelPreset((models as { preset: ModelPreset }).preset, calls);
