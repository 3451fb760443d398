import { expect } from 'chai'
import { GENERATED_FILES } from '../../docs/generate/generated-files.ts'
import { readText } from '../support/sources.ts'

describe('a generated file', () => {
  for (const { path, content } of GENERATED_FILES) {
    it(`is up to date: ${path}`, async () => {
      // Not compared by `equal`, which would print both texts.
      expect(readText(path) === (await content()), 'run `npm run docs`').to.equal(true)
    })
  }
})
