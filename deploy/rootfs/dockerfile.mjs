// Parses the part of the Dockerfile language that this project's images use. Rejects unknown instructions, so that a
// root file system never silently lacks a step.
const JSON_FORM = new Set(['CMD', 'ENTRYPOINT', 'HEALTHCHECK']);
const KNOWN = new Set(['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'VOLUME', 'EXPOSE', ...JSON_FORM]);

/** `[{base, name, steps: [{op, flags, words, text}]}]`, one entry per stage, in order. */
export function parseDockerfile(text) {
  const stages = [];
  for (const line of logicalLines(text)) {
    const [, op, rest] = /^([A-Z]+)\s+(.*)$/s.exec(line) ?? [];
    if (!KNOWN.has(op)) throw new Error(`not known in a Dockerfile: ${line}`);
    if (op === 'FROM') {
      const [base, as, name] = rest.split(/\s+/);
      if (as !== undefined && as.toUpperCase() !== 'AS') throw new Error(`not understood: ${line}`);
      stages.push({ base, name: name ?? String(stages.length), steps: [] });
      continue;
    }
    if (stages.length === 0) throw new Error(`before the first FROM: ${line}`);
    stages.at(-1).steps.push({ op, ...splitFlags(op, rest) });
  }
  return stages;
}

/** The configuration of the finished image. */
export function imageConfig(stage) {
  const config = {
    env: {},
    user: 'root',
    workdir: '/',
    volumes: [],
    ports: [],
    entrypoint: [],
    command: [],
    healthcheck: null,
  };
  for (const { op, words, text } of stage.steps) {
    if (op === 'ENV') Object.assign(config.env, environment(words));
    if (op === 'USER') config.user = words[0];
    if (op === 'WORKDIR') config.workdir = words[0];
    if (op === 'VOLUME') config.volumes.push(...words);
    if (op === 'EXPOSE') config.ports.push(...words.map(Number));
    if (op === 'ENTRYPOINT') config.entrypoint = JSON.parse(text);
    if (op === 'CMD') config.command = JSON.parse(text);
    if (op === 'HEALTHCHECK') config.healthcheck = JSON.parse(text.replace(/^CMD\s+/, ''));
  }
  return config;
}

export const environment = (words) =>
  Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));

function logicalLines(text) {
  const kept = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return kept
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function splitFlags(op, rest) {
  const flags = {};
  let text = rest;
  for (let match = /^--([a-z-]+)=(\S+)\s+/.exec(text); match !== null; match = /^--([a-z-]+)=(\S+)\s+/.exec(text)) {
    flags[match[1]] = match[2];
    text = text.slice(match[0].length);
  }
  return { flags, text, words: JSON_FORM.has(op) ? [] : text.split(/\s+/) };
}
