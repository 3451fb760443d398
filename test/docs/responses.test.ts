import { MEMBERS } from '../../core/protocol/responses/request.ts'
import { expectParametersOn } from '../support/provider-page.ts'
import { readText } from '../support/sources.ts'

describe('docs/responses.md', () => {
  it('says how each member of a request is handled', () => expectParametersOn(readText('docs/responses.md'), MEMBERS))
})
