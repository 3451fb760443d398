import { expect } from 'chai'
import { ERRORS, type ErrorName } from '../../core/error-table.ts'
import { GatewayError } from '../../core/errors.ts'
import { MESSAGES_WIRE } from '../../core/protocol/messages/endpoint.ts'
import { MEMBERS } from '../../core/protocol/messages/request.ts'
import { expectParametersOn } from '../support/provider-page.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/messages.md')

describe('docs/messages.md', () => {
  it('says how each member of a request is handled', () => expectParametersOn(PAGE, MEMBERS))

  it('has the type of every error', () => {
    const types = new Map<string, string>()
    for (const [, statuses, type] of PAGE.matchAll(/^\| ([\d, x a-z]+) \| `(\w+)` \|$/gm)) {
      for (const status of statuses!.split(', ')) types.set(status, type!)
    }
    for (const name of Object.keys(ERRORS) as ErrorName[]) {
      const error = new GatewayError(name)
      const { error: sent } = MESSAGES_WIRE.error(error) as { error: { type: string } }
      const status = MESSAGES_WIRE.status!(error)
      const listed = types.get(String(status)) ?? types.get(status < 500 ? 'other 4xx' : 'other 5xx')
      expect(sent.type, name).to.equal(listed)
    }
  })
})
