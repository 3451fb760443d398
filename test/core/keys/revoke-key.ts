// Revokes the key named on the command line in the database whose URL stands before it.
import { revokeKeyCommand } from '../../../core/cli/keys/keys.ts'

const [database = '', id = ''] = process.argv.slice(2)
process.exitCode = await revokeKeyCommand({ data: 'unused', database, id, json: true }, process)
