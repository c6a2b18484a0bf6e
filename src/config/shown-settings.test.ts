import { expect, test } from 'bun:test';
import { shownSettings } from './shown-settings.ts';

const HIDDEN = 'sk-hidden-0123456789';

test('every setting has its source, and no secret has a value', () => {
  const shown = shownSettings(
    { dataDir: '/srv/data' },
    {
      PORT: ' 9000 ',
      MODELPORT_API_KEY: HIDDEN,
      MODELPORT_ADMIN_KEY_FILE: '/nowhere/admin-key',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://name:${HIDDEN}@127.0.0.1:4318`,
    },
  );
  const of = (name: string) => shown.find((one) => one.name === name);
  expect(of('PORT')).toEqual({ name: 'PORT', value: '9000', source: 'environment', isSecret: false, isSet: true });
  expect(of('HOST')).toEqual({ name: 'HOST', value: '127.0.0.1', source: 'default', isSecret: false, isSet: true });
  expect(of('MODELPORT_DATA_DIR')).toMatchObject({ value: '/srv/data', source: 'default' });
  expect(of('MODELPORT_API_KEY')).toEqual({
    name: 'MODELPORT_API_KEY',
    source: 'environment',
    isSecret: true,
    isSet: true,
  });
  expect(of('MODELPORT_ADMIN_KEY')).toMatchObject({ source: 'file', isSet: true });
  expect(of('DATABASE_URL')).toEqual({ name: 'DATABASE_URL', source: 'default', isSecret: true, isSet: false });
  expect(of('MODELPORT_CONFIG')).toEqual({
    name: 'MODELPORT_CONFIG',
    source: 'default',
    isSecret: false,
    isSet: false,
  });
  expect(of('OTEL_EXPORTER_OTLP_ENDPOINT')?.value).toBe('http://***@127.0.0.1:4318');
  expect(JSON.stringify(shown)).not.toContain(HIDDEN);
});
