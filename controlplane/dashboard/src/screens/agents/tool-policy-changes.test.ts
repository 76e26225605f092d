import { describe, expect, it } from 'vitest';
import { type AgentPolicy, setToolAllowed } from './tool-policy-changes.js';

const SLUG = 'our-mcp';
const SLUGS = ['openai', SLUG];
const change = (policy: AgentPolicy | null, tool: string, isAllowed: boolean) =>
  setToolAllowed(policy, SLUG, tool, isAllowed, SLUGS);

describe('switches of tools', () => {
  it('a first policy denies the tool and goes on to allow the agent’s providers', () => {
    expect(change(null, 'delete', false)).toEqual({ openai: {}, [SLUG]: { tools: { deny: ['delete'] } } });
  });

  it('off and on again leaves the rule as it was', () => {
    const policies: AgentPolicy[] = [
      { [SLUG]: { tools: {} } },
      { [SLUG]: { tools: { deny: ['other'] } } },
      { [SLUG]: { tools: { allow: ['read', 'delete'] } }, openai: {} },
      { [SLUG]: { tools: { allow: ['*'], deny: ['x*'] }, calls: ['POST /mcp'] } },
    ];
    for (const policy of policies) {
      const off = change(policy, 'delete', false) as AgentPolicy;
      expect(off).not.toEqual(policy);
      expect(change(off, 'delete', true)).toEqual(policy);
    }
  });

  it('on: adds the name to an allow list that lacks it, and removes it from deny in any spelling', () => {
    expect(change({ [SLUG]: { tools: { allow: ['get_*'], deny: ['DELETE'] } } }, 'delete', true)).toEqual({
      [SLUG]: { tools: { allow: ['get_*', 'delete'] } },
    });
    expect(change({ [SLUG]: { tools: { allow: ['d*e'] } } }, 'delete', true)).toEqual({
      [SLUG]: { tools: { allow: ['d*e'] } },
    });
  });

  it('opens a server that the policy does not list for this tool only', () => {
    expect(change({ openai: {} }, 'read', true)).toEqual({ openai: {}, [SLUG]: { tools: { allow: ['read'] } } });
  });

  it('says why patterns must be edited', () => {
    expect(change({ [SLUG]: { tools: { deny: ['DEL*'] } } }, 'delete', true)).toContain('denies DEL*');
    expect(change(null, 'a*', false)).toContain('contains *');
  });

  it('keeps resources, prompts and limits', () => {
    const rest = { resources: { deny: ['x'] }, toolLimits: [{ tool: 'a', rpm: 1 }] };
    expect(change({ [SLUG]: rest }, 'a', false)).toEqual({ [SLUG]: { ...rest, tools: { deny: ['a'] } } });
  });
});
