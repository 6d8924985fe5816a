// What the tests share: the clients as their users make them, and the models.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const url = process.env.GATEWAY_URL;
const key = process.env.GATEWAY_KEY;

export const openai = (options = {}) => new OpenAI({baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, ...options});
export const anthropic = (options = {}) => new Anthropic({baseURL: url, apiKey: key, maxRetries: 0, ...options});

// relaxed shows what the OpenAI schema does not have.
export const relaxed = {headers: {'x-gateway-strict-compliance': 'false'}};

export const models = {
  gemini: '@vx/gemini-2.5-flash',
  signing: '@vx/gemini-3.8-flash', // refuses a call whose signature was changed
  claude: '@vx/anthropic.claude-sonnet-5',
  embedding: '@vx/text-embedding-005',
};

export const weather = {
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: {type: 'object', properties: {city: {type: 'string'}}, required: ['city']},
};
