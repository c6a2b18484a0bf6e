import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { carrySignature, readCarriedSignature } from './carried-signature.ts';

test('any signature returns unchanged, as base64 that strict libraries accept', () => {
  const signatures = fc.record(
    { dialect: fc.string(), value: fc.string({ unit: 'grapheme' }), id: fc.string() },
    { requiredKeys: ['dialect', 'value'] },
  );
  fc.assert(
    fc.property(signatures, fc.option(fc.string(), { nil: undefined }), (signature, of) => {
      const text = carrySignature(signature, of);
      expect(text).toMatch(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
      expect(readCarriedSignature(text)).toEqual(of === undefined ? { signature } : { signature, of });
    }),
  );
});

test.each(['', 'ErUBCkYIBRgCIkA', 'Z3cxOl', 'Z3cxOlsxXQ==', btoa('gw1:{}'), btoa('gw1:["a"')])(
  '%p is not a carried signature',
  (text) => {
    expect(readCarriedSignature(text)).toBeUndefined();
  },
);
