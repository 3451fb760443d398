const WORD = { type: 'string' }

/** A JSON Schema of the keywords that the conformance suite's own does not have. */
export const RARE_SCHEMA = {
  $anchor: 'root',
  title: 'Place',
  allOf: [{ type: 'object' }, { required: ['a'] }],
  definitions: { word: WORD, number: { const: 7 } },
  properties: {
    a: { allOf: [WORD] },
    b: { allOf: ['no schema'] },
    c: { $ref: '#/definitions/word', description: 'A word.' },
    d: { const: true },
    e: { const: 'e', enum: ['e', 'f'] },
    f: { type: 'array', items: WORD, minItems: 0 },
    g: { type: 'array', prefixItems: [WORD], minItems: 2 },
    h: { type: 'object', propertyOrdering: ['b', 'a'] },
    i: { properties: { deep: WORD } },
    j: { anyOf: [{ allOf: [WORD] }, { const: 1 }] },
    ...Object.fromEntries(
      ['time', 'date', 'duration', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid', 'regex'].map((format) => [
        format,
        { type: 'string', format },
      ]),
    ),
  },
}
