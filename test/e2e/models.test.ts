/** Model lists in three formats, and errors of unknown paths. */
import { describe, expect, test } from 'bun:test';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({}, { checksEachTest: false });

describe('model lists in three formats', () => {
  const list = async (stage: Stage, path: string, headers: { [name: string]: string }) => {
    const response = await fetch(`${scene.gateway.url}${path}`, { headers });
    return {
      status: response.status,
      body: (await response.json()) as { data?: { id: string; type?: string }[]; models?: { name: string }[] },
      stage,
    };
  };

  test('contain the same names exactly', async () => {
    const stage = await scene.stage({ model: 'provider/Model-With.Case' });
    const { key } = stage.caller;
    const bearer = { authorization: `Bearer ${key}` };
    const a = await list(stage, '/v1/models', bearer);
    const names = a.body.data?.map((model) => model.id).sort();
    expect(names).toContain('provider/Model-With.Case');
    for (const headers of [
      { 'x-api-key': key },
      { ...bearer, 'anthropic-version': '2023-06-01' },
      { ...bearer, 'vendor1-version': 'any' },
    ] as { [name: string]: string }[]) {
      const b = await list(stage, '/v1/models?limit=1000', headers);
      expect(b.body.data?.every((model) => model.type === 'model')).toBe(true);
      expect(b.body.data?.map((model) => model.id).sort()).toEqual(names ?? []);
    }
    const googles: [string, { [name: string]: string }][] = [
      ['/v1/models?pageSize=1000', { 'x-goog-api-key': key }],
      ['/v1/models?pageSize=1000', { 'x-vendor2-api-key': key }],
      [`/v1/models?pageSize=1000&key=${key}`, {}],
      ['/v1beta/models?pageSize=1000', { 'x-goog-api-key': key }],
    ];
    for (const [path, headers] of googles) {
      const c = await list(stage, path, headers);
      expect(c.body.models?.map((model) => model.name).sort()).toEqual(
        names?.map((name) => `models/${name}`).sort() ?? [],
      );
    }
  });

  test("a wrong key is a 401 on every path, in the path's error format, and never repeated", async () => {
    for (const path of ['/v1/models', '/v1/models/x', '/v1/chat/completions', '/v1/completions', '/v1/balance']) {
      const method = path.includes('completions') ? 'POST' : 'GET';
      const response = await fetch(`${scene.gateway.url}${path}`, {
        method,
        headers: { authorization: 'Bearer sk-wrong-key' },
        ...(method === 'POST' && { body: '{}' }),
      });
      expect(response.status).toBe(401);
      const text = await response.text();
      expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' });
      expect(text).not.toContain('sk-wrong-key');
    }
  });

  test('an unknown path is 404 and a wrong method 405, as JSON', async () => {
    const authorization = `Bearer ${scene.gateway.apiKey}`;
    for (const [method, path, status] of [
      ['GET', '/v1/nothing', 404],
      ['GET', '/v1/chat/completions', 405],
      ['POST', '/v1/files', 404],
    ] as const) {
      const response = await fetch(`${scene.gateway.url}${path}`, { method, headers: { authorization } });
      expect(response.status).toBe(status);
      expect(((await response.json()) as { error: object }).error).toHaveProperty('message');
    }
  });
});
