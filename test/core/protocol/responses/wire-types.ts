/** Compares what is written with OpenAI's types (openai-node). Compiled, never run. */
import type * as OpenAI from 'openai/resources/responses/responses'
import type { ErrorEvent, EventBody, OutputItem, OwnResponse, ResponseUsage } from '../../../../core/protocol/responses/wire.ts'

/** A type as JSON: all members are readonly. */
type Wire<T> = T extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Wire<T[Key]> }
    : T

/** The reply without what it repeats of its request. */
type Own = Pick<OpenAI.Response, keyof OpenAI.Response & keyof OwnResponse>

/** A whole reply is one of OpenAI's. */
export const toSdkResponse = (response: OwnResponse): Wire<Own> => response

/** Its items and usage are OpenAI's. */
export const toSdkItem = (item: OutputItem): Wire<OpenAI.ResponseOutputItem> => item
export const toSdkUsage = (usage: ResponseUsage): Wire<OpenAI.ResponseUsage> => usage

/** Each event is one of OpenAI's; what a response repeats is the client's. */
type Body<Event> = Event extends { response: unknown }
  ? Omit<Event, 'sequence_number' | 'response'>
  : Omit<Event, 'sequence_number'>
type OwnBody<Event> = Event extends { readonly response: unknown } ? Omit<Event, 'response'> : Event
export const toSdkEvent = (event: OwnBody<EventBody>): Wire<Body<OpenAI.ResponseStreamEvent>> => event
export const toSdkError = (event: ErrorEvent): Wire<OpenAI.ResponseErrorEvent> => event
